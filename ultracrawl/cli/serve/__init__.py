"""Verbs of the service: it runs, and is talked to."""
