"""Verbs for FAST crawl collections."""
