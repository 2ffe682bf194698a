"""Stored responses: bodies of fetched documents with their headers."""
