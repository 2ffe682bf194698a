"""Exports a source as configuration files of a portal robot, and reports what they cannot express."""
