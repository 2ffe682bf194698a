"""Verbs that look: nothing changes by them."""
