"""Regular expressions on whole bodies: RE2 matches in linear time."""

from __future__ import annotations

import re2


def compile_for_bodies(pattern: str) -> re2._Regexp[bytes]:
    """Compile a case-insensitive expression for bodies."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    return re2.compile(pattern.encode(), options)
