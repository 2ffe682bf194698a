"""Writes segments of Whoosh several times as fast as its own writer, in its own format."""
