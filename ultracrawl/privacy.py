"""Who on the machine may read what is written: its account alone, unless the operator lets others in."""

from __future__ import annotations

import os
import re

from ultracrawl.errors import UserError

VARIABLE = "ULTRACRAWL_UMASK"
"""The environment variable with the permissions that are taken away, as the command `umask` has them."""

_OTHERS = 0o077


def write_for_owner() -> None:
    """Have all files and folders that this process and its children make from now on be for its account alone.

    Another umask is taken from the environment. Raises `UserError` if that is none.
    """
    wish = os.environ.get(VARIABLE, "")
    if wish and not re.fullmatch("0?[0-7]{3}", wish):
        raise UserError(f"{VARIABLE} is {wish!r}; write three octal digits, as 027")
    before = os.umask(_OTHERS)
    os.umask(int(wish, 8) if wish else before | _OTHERS)
