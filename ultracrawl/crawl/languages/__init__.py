"""The language of pages in a crawl, and which are kept by it."""
