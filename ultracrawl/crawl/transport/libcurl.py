"""Whether libcurl can be used: pycurl comes with ultracrawl, but may be unable to load its library."""

from __future__ import annotations

from functools import cache

from ultracrawl.errors import UserError

REPAIR = "pip install --force-reinstall pycurl"
"""What brings pycurl with a library that fits it."""


@cache
def why_no_libcurl() -> str:
    """Return why pycurl does not load; empty if it does."""
    try:
        import pycurl  # noqa: F401, PLC0415 - whether that goes well is the question
    except ImportError as error:
        return str(error)
    return ""


def require_libcurl(feature: str) -> None:
    """Raise `UserError` with what to do if a feature has no libcurl."""
    if reason := why_no_libcurl():
        raise UserError(f"{feature} needs pycurl, which does not load ({reason}); repair it with: {REPAIR}")
