"""Finds out whether a page has scripts, and whether what it says can only come from them."""

from __future__ import annotations

import re
from collections.abc import Callable

from ultracrawl.content.file_names import media_type_of
from ultracrawl.model.page import LinkKind, Page
from ultracrawl.rules.urls.canonical import UrlPolicy

PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages that may have scripts."""
FEW_CHARACTERS = 100
"""Characters without white space; a page with fewer says nothing before its scripts have run."""
_TYPES_OF_PAGE_NAMES = PAGES | {""}
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


def what_lacks(page: Page, url: str, policy: UrlPolicy, belongs: Callable[[str], bool]) -> str:
    """Return what a page as sent lacks, so that its scripts are run; empty if it has text and links to other pages.

    `url` is that of the page, and `belongs` tells whether a canonical URL may be crawled. A link to the page itself, to
    a file, to no server (`mailto:`, `javascript:`) or out of the source is no way on.
    """
    if has_few_words(page):
        return "next to no text"
    own, base = policy.canonical(url), page.base or url
    for link in page.links:
        if link.kind in _PAGE_LINKS:
            target = policy.canonical(link.href, base)
            if target is not None and target != own and _may_be_page(target) and belongs(target):
                return ""
    return "no links to other pages"


def _may_be_page(url: str) -> bool:
    """Return whether a URL may be that of a page, by its scheme and the name of its file."""
    return url.startswith("http") and media_type_of(url) in _TYPES_OF_PAGE_NAMES
