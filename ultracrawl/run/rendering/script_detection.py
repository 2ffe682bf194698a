"""Finds out whether a page has scripts, and whether what it says can only come from them."""

from __future__ import annotations

import re

from ultracrawl.model.page import LinkKind, Page

PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages that may have scripts."""
FEW_CHARACTERS = 100
"""Characters without white space; a page with fewer says nothing before its scripts have run."""
_PAGE_LINKS = frozenset({LinkKind.A, LinkKind.AREA, LinkKind.FRAME, LinkKind.IFRAME})
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


def has_few_words(page: Page) -> bool:
    """Return whether a page as sent has next to no text, such as the shell of an application."""
    return len("".join(page.text.split())) < FEW_CHARACTERS


def what_lacks(page: Page) -> str:
    """Return what a page as sent lacks, so that its scripts are run; empty if it has text and links to other pages."""
    if has_few_words(page):
        return "next to no text"
    return "" if any(link.kind in _PAGE_LINKS for link in page.links) else "no links to other pages"
