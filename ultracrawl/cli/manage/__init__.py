"""Verbs that look after documents, indexes, lists and definitions."""
