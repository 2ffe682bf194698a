"""Converts values of FAST XML to options of a source definition."""
