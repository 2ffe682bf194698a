"""Definitions made into the rules that a crawl asks."""
