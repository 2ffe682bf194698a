"""Runs the filters of a portal robot source, and limits the time and memory of user code that they call."""
