"""Whether libcurl can be used: pycurl is a dependency, but may fail to load its library."""

from __future__ import annotations

from functools import cache

from ultracrawl.errors import UserError

REPAIR = "pip install --force-reinstall pycurl"
"""Installs pycurl with a matching library."""


@cache
def why_no_libcurl() -> str:
    """Return why pycurl does not load; empty if it does."""
    try:
        import pycurl  # noqa: F401, PLC0415 - only tests whether it loads
    except ImportError as error:
        return str(error)
    return ""


def require_libcurl(feature: str) -> None:
    """Raise `UserError` with the remedy if libcurl is not available for a feature."""
    if reason := why_no_libcurl():
        raise UserError(f"{feature} needs pycurl, which does not load ({reason}); repair it with: {REPAIR}")
