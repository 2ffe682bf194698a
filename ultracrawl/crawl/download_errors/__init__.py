"""Errors of downloads: what they mean for a URL, and what follows."""
