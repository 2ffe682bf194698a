"""Detects the encoding of bodies and decodes them."""
