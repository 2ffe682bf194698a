"""Converters for archives, whose files become one document."""
