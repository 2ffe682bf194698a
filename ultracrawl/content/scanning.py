"""Expressions over all bytes of a page: RE2 goes over them once, in C, whatever an expression looks for."""

from __future__ import annotations

import re2


def one_pass(pattern: str) -> re2._Regexp[bytes]:
    """Return an expression to search bodies with, upper and lower case alike."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    return re2.compile(pattern.encode(), options)
