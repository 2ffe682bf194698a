"""The overview of all sources, a source, its URLs, one URL, and orders for crawls."""
