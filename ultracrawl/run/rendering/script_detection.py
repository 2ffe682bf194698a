"""Finds out whether a page has scripts, and whether what it says can only come from them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.content.file_names import media_type_of
from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import SCRIPTS
from ultracrawl.model.page import LinkKind, Page
from ultracrawl.rules.recrawl.change import checksum
from ultracrawl.rules.urls.canonical import UrlPolicy

if TYPE_CHECKING:
    from ultracrawl.run import Visit

PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages that may have scripts."""
FEW_CHARACTERS = 100
"""Characters without white space; a page with fewer says nothing before its scripts have run."""
LOOKED_AT = 2000
"""Characters at the beginning of a text that nearly always tell whether it has few."""
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
    if len("".join(page.text[:LOOKED_AT].split())) >= FEW_CHARACTERS:
        return False
    return len(page.text) <= LOOKED_AT or len("".join(page.text.split())) < FEW_CHARACTERS


def shown_checksum(page: Page) -> bytes:
    """Return the checksum of what readers see of a page as sent: its title, its text, and where its links lead."""
    links = [link.href for link in page.links if link.kind in _PAGE_LINKS]
    return checksum("\n".join((page.title, page.text, *links)).encode("utf-8", "replace"))


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


def note_missing_text(visit: Visit, page: Page, body: bytes, *, as_sent: bool) -> None:
    """Note that a start page has no text; one `as_sent` by the server has none either before its scripts have run.

    Only start pages, and those to which they redirect, decide whether a source has a document at all.
    """
    if visit.depth or visit.fetch.media_type not in PAGES or not has_few_words(page):
        return
    if as_sent and has_scripts(body):
        visit.page = visit.page._replace(
            without_text=Cause(CauseCode.NO_TEXT, SCRIPTS, "its scripts have not run")
        )
    elif not page.text.strip():
        visit.page = visit.page._replace(without_text=Cause(CauseCode.NO_TEXT))
