"""How much of one page is read."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

LARGE = 1 << 18
"""Bytes from which on a page is read in a process of its own: smaller ones take some hundredths of a second."""


class PageLimits(NamedTuple):
    """Bounds of one page; what stands in front of a bound is read."""

    nodes: int = 1_000_000
    """Tags and comments."""
    links: int = 10_000
    """Different links."""
    text: int = 5_000_000
    """Characters of text, and as many of what links are called and of META values."""


DEFAULTS = PageLimits()


NODES = "limits.nodes_per_page {}: what stands behind them was left out"
LINKS = "limits.links_per_page {}: further links were left out"
TEXT = "conversion.text {}: what stands behind it was left out"


def reasons(*bounds: tuple[str, object, bool]) -> str:
    """Return the texts of the bounds that left something out, as one; each is filled in with its value."""
    return "; ".join([text.format(value) for text, value, cut in bounds if cut])


def limit_nodes(body: bytes, most: int) -> tuple[bytes, bool]:
    """Return the part of `body` with so many tags and comments, and whether it had more; nothing is parsed for it."""
    if len(body) <= most or body.count(b"<") <= most:
        return body, False
    end = next(islice(re.finditer(b"<", body), most, None)).start()
    return body[:end], True


def limit_text(text: str, most: int) -> tuple[str, bool]:
    """Return the first characters of a text, up to the end of a word, and whether it had more."""
    if len(text) <= most:
        return text, False
    end = text.rfind(" ", 0, most + 1)
    return text[: end if end > 0 else most], True
