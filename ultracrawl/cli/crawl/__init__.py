"""Verbs that begin, steer and end crawls."""
