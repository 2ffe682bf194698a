"""Loads user code that a definition names by a dotted path."""

from __future__ import annotations

import traceback

from scrapy.utils.misc import load_object

from ultracrawl.errors import UserError


def load_own(path: str, place: str) -> object:
    """Return what a dotted path names. Raises `UserError` with one line that begins with `place`."""
    try:
        found: object = load_object(path)
    except (ImportError, NameError, ValueError) as error:
        raise UserError(
            f"{place} cannot be loaded: {error}; install its package, or run where its scrapy.cfg is"
        ) from error
    except Exception as error:  # the edge to somebody's module: one line is worth more than its traceback
        raise UserError(
            f"{place} cannot be loaded: {type(error).__name__}: {error} ({_where(error)})"
        ) from error
    return found


def _where(error: Exception) -> str:
    """Return file and line of what was wrong."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}"
