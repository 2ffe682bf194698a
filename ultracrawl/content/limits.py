"""Limits for parsing one page."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

LARGE_PAGE_BYTES = 1 << 18
"""Pages from this size in bytes on are parsed in another process; smaller ones take some hundredths of a second."""


class PageLimits(NamedTuple):
    """Limits of one page; content up to a limit is parsed."""

    nodes: int = 1_000_000
    """Tags and comments."""
    links: int = 25_000
    """Different links."""
    text: int = 5_000_000
    """Characters of text, and as many of link texts and of META values."""


DEFAULT_LIMITS = PageLimits()


NODES_CUT = "limits.nodes_per_page {}: the rest of the page was omitted"
LINKS_CUT = "limits.links_per_page {}: further links were omitted"
TEXT_CUT = "conversion.text {}: the rest of the text was omitted"


def join_reasons(*bounds: tuple[str, object, bool]) -> str:
    """Join the messages of the exceeded limits; each bound is (message, value, is exceeded)."""
    return "; ".join([text.format(value) for text, value, cut in bounds if cut])


def limit_nodes(body: bytes, limit: int) -> tuple[bytes, bool]:
    """Return `body` up to `limit` tags and comments, and whether it was cut; nothing is parsed for it."""
    if len(body) <= limit or body.count(b"<") <= limit:
        return body, False
    end = next(islice(re.finditer(b"<", body), limit, None)).start()
    return body[:end], True


def limit_text(text: str, limit: int) -> tuple[str, bool]:
    """Return at most `limit` characters of a text, cut at a word boundary, and whether it was cut."""
    if len(text) <= limit:
        return text, False
    end = text.rfind(" ", 0, limit + 1)
    return text[: end if end > 0 else limit], True
