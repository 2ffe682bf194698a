"""Anchor texts: the texts of links to a page on other pages, if they say something about it."""

from __future__ import annotations

import re
from urllib.parse import unquote
from zlib import crc32

MOST_ANCHORS = 20
"""Anchor texts of one document that are indexed, those that most pages have."""
LONGEST = 100
"""Characters of an anchor text, and of the name of a part of a page, that count."""
MOST_SECTION_ANCHORS = 200
"""Texts of links to parts of one document that are indexed, those that most pages have."""
SHARED = 5
"""A text of links to more URLs than this (`next`, `read more`) says nothing about any of them.

It says nothing about parts of a page if it leads to more of them than this.
"""

_SAYS_SOMETHING = re.compile(r"[^\W_]").search
_NO_LETTER = re.compile(r"[\W_]+")
_ADDRESS = re.compile(r"(?:\w+://|www\.)\S*\Z").match


def anchor_text(text: str) -> str:
    """Return the form in which texts are compared; empty for one without a letter or digit, and for a bare address."""
    folded = " ".join(text.lower().split())
    if len(folded) > LONGEST:
        folded = folded[: LONGEST + 1].rpartition(" ")[0] or folded[:LONGEST]
    says = folded[:1].isalnum() or _SAYS_SOMETHING(folded)
    bare = ("://" in folded or folded.startswith("www.")) and _ADDRESS(folded)
    return folded if says and not bare else ""


def says_more_than(text: str, fragment: str, url: str = "") -> bool:
    """Whether the text of a link to a part says more than its name and the path of its page do; no number does.

    `heappush()` says no more than `heapq.heappush`, and `Short.compare` no more than `java/lang/Short.html#compare`.
    """
    if text in fragment.lower() and "%" not in fragment and fragment.isascii():
        return False  # as the rest finds, in a tenth of the time
    said, name = _NO_LETTER.sub("", text).lower(), _NO_LETTER.sub("", unquote(fragment)).lower()
    if said.isdigit() or said in name:
        return False
    path = unquote(url.partition("//")[2].partition("/")[2].partition("?")[0]).lower()
    return any(word not in name and word not in path for word in _NO_LETTER.split(text.lower()))


def anchor_mark(target: int, text: str, fragment: str = "") -> int:
    """Return a number of 64 bits, never 0, by which a page remembers that it has such a link to a target.

    The marks of one target share their upper half, so that its texts lie side by side in the store.
    """
    said = f"{fragment}\n{text}" if fragment else text
    return target >> 32 << 32 | crc32(said.encode(errors="replace"), target & 0xFFFFFFFF) or 1
