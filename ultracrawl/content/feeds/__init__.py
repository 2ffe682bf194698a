"""Feeds and sitemaps: what they name, with dates."""
