"""Reads the JSON files of DocSearch scrapers: docsearch-scraper, docs-scraper, typesense-docsearch-scraper.

`dialect` is the entry point; `reader.read_scraper` reads a file and returns `Loaded` with one source.
"""
