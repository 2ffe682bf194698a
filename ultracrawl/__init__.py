"""Keeps a full-text search index in step with data sources, on one Scrapy-based engine."""

__version__ = "0.1.0"
