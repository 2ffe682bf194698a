"""Finds out whether a page has scripts, without parsing it."""

from __future__ import annotations

import re

_MARK = re.compile(rb"<script\b|[\s\"'/]on(?:load|pageshow)\s*=", re.IGNORECASE)
_SCRIPT_TAG = re.compile(rb"<script\b([^>]{0,1000}+)", re.IGNORECASE)
_TYPE = re.compile(rb"""\stype\s*=\s*["']?\s*([^\s"'>]*)""", re.IGNORECASE)
_RUNS = re.compile(rb"|module|.*(?:java|ecma|j|live)script.*", re.IGNORECASE)
"""Types of scripts that are run; others are data (JSON-LD, templates)."""


def has_scripts(body: bytes) -> bool:
    """Return whether a page has scripts that run without its user: in elements, or when it has loaded (`onload`)."""
    for mark in _MARK.finditer(body):
        tag = _SCRIPT_TAG.match(body, mark.start())
        written = _TYPE.search(tag[1]) if tag is not None else None
        if written is None or _RUNS.fullmatch(written[1]):
            return True
    return False
