"""Verbs that only show something; they change nothing."""
