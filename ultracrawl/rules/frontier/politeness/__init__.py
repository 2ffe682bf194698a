"""Politeness: delays, back-off, Retry-After and time windows."""
