"""Compiles source definitions into the rule objects that a crawl uses."""
