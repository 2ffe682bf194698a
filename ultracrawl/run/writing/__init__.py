"""Writes documents to the indexes of a source: durable cache, index processes, commits, pauses."""
