"""Runs the filters of a source, and limits the time and memory of user code that they call."""
