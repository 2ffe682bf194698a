"""Parsers for feeds and sitemaps."""
