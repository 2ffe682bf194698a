"""How a conversion can end early."""

from __future__ import annotations


class ConversionError(ValueError):
    """The document cannot be converted: broken, encrypted, or not what it claims to be (Ultra Search status 903)."""


class LimitReachedError(Exception):
    """A limit ends the conversion; what was gathered until then is the result, marked as truncated."""
