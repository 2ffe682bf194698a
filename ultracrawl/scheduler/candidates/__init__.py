"""Turns URLs that were found into queue entries: resolution, filter, and re-queueing of known URLs."""
