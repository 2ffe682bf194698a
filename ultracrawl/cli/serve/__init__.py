"""Verbs of the service, and the client of its API."""
