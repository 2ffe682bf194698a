"""Verbs that start, control and stop crawls."""
