"""Limits on input for which the parser takes quadratic time: attributes, open formatting elements, depth."""
