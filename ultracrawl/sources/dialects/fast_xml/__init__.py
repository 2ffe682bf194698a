"""Crawl collections of FAST Search, read from their XML files as they stand.

`reader.read_collections` reads a file, with the defaults file beside it, and returns `Loaded`: each collection is a
source. `options.OPTIONS` is the list of all options with what each does here.
"""
