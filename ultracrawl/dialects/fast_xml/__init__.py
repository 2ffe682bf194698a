"""Reads crawl collections of FAST Search from their XML files.

`dialect` is the entry point; `reader.read_collections` reads a file and the defaults file beside it, and returns
`Loaded` with a source for each collection. `options.OPTIONS` lists all options with their effects; `verbs` are the
commands.
"""
