"""Locates and reads definition files: plain data with the place of each value."""
