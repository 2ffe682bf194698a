"""Download handlers that are not ours: their connections are guarded, and they send what a source shows to servers.

`guard_handlers` (`choice`) puts a `GuardedDownloadHandler` (`handler`) around each, with the wall that fits its class:
`ReactorWall` for what connects through Twisted, `ProxyWall` and `BrowserWall` with an `EgressProxy` for what takes a
proxy, `NamesWall` for all else, if the definition is content with that. Nothing here is imported for our own handlers.
"""
