"""Stored responses on SQLite: of the documents of a source, and of spiders without a definition."""
