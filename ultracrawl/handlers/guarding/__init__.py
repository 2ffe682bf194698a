"""Guards the connections of third-party download handlers, and adds the credentials of the source to their requests.

`guard_handlers` (`choice`) wraps each in a `GuardedDownloadHandler` (`handler`) with the connection guard for its
class: `ReactorGuard` for Scrapy's handlers that connect through Twisted, `HostNameGuard` for all others, if the
definition allows that. Crawls that only use the built-in handlers do not import this package.
"""
