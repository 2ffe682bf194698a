"""Verbs for portal robots."""
