"""Anchor texts: normalises the texts of links to a page, and filters out those that carry no information."""

from __future__ import annotations

import re
from urllib.parse import unquote
from zlib import crc32

MOST_ANCHORS = 20
"""Maximum anchor texts indexed for one document, the most frequent ones."""
LONGEST = 100
"""Maximum characters of an anchor text, and of the name of a section."""
MOST_SECTION_ANCHORS = 200
"""Maximum texts of links to sections indexed for one document, the most frequent ones."""
SHARED = 5
"""A text that links to more URLs than this (`next`, `read more`), or to more sections of a page, is ignored."""

_has_letter_or_digit = re.compile(r"[^\W_]").search
_NON_LETTERS = re.compile(r"[\W_]+")
_is_address = re.compile(r"(?:\w+://|www\.)\S*\Z").match


def anchor_text(text: str) -> str:
    """Return the normalised text; empty for one without a letter or digit, and for a bare address."""
    folded = " ".join(text.lower().split())
    if len(folded) > LONGEST:
        folded = folded[: LONGEST + 1].rpartition(" ")[0] or folded[:LONGEST]
    has_words = folded[:1].isalnum() or _has_letter_or_digit(folded)
    is_bare_address = ("://" in folded or folded.startswith("www.")) and _is_address(folded)
    return folded if has_words and not is_bare_address else ""


def says_more_than(text: str, fragment: str, url: str = "") -> bool:
    """Whether the text of a link to a section has words that its fragment and the path lack; numbers do not count.

    `heappush()` adds nothing to `heapq.heappush`, and `Short.compare` nothing to `java/lang/Short.html#compare`.
    """
    if text in fragment.lower() and "%" not in fragment and fragment.isascii():
        return False  # the same result as below, in a tenth of the time
    letters, name = _NON_LETTERS.sub("", text).lower(), _NON_LETTERS.sub("", unquote(fragment)).lower()
    if letters.isdigit() or letters in name:
        return False
    path = unquote(url.partition("//")[2].partition("/")[2].partition("?")[0]).lower()
    return any(word not in name and word not in path for word in _NON_LETTERS.split(text.lower()))


def anchor_mark(target: int, text: str, fragment: str = "") -> int:
    """Return the 64-bit number, never 0, that stands for an anchor text and its target in the store.

    The marks of one target share their upper half, so that they are adjacent in the store.
    """
    key = f"{fragment}\n{text}" if fragment else text
    return target >> 32 << 32 | crc32(key.encode(errors="replace"), target & 0xFFFFFFFF) or 1
