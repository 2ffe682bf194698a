"""Loads definition files into a checked project, or findings."""
