"""When two pages are one document: fingerprints, and the 64-bit simhash (Charikar 2002)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from xxhash import xxh3_64_intdigest

from ultracrawl.model import Page

BITS = 64
SHINGLE = 3
"""Words that are hashed together."""
LARGEST_DISTANCE = 3
"""Bits in which two near hashes may differ at most, so that one of four blocks of 16 bits is always equal."""

_WORD = re.compile(r"\w+")
_LANE = 32
"""Bits of one counter in the sum below: enough for 4 billion triples."""
_MASK = (1 << _LANE) - 1
_SPREAD = tuple(sum(((byte >> bit) & 1) << (_LANE * bit) for bit in range(8)) for byte in range(256))
"""A byte with each of its bits in a lane of its own, so that one addition counts eight bits."""


def simhash(text: str, fewest_words: int = 0) -> int | None:
    """Return the simhash of a text, an unsigned number of 64 bits; None if it has too few words.

    Words are compared in lower case and without punctuation; each different triple counts once.
    """
    words = _WORD.findall(text.lower())
    if len(words) < max(fewest_words, SHINGLE):
        return None
    triples = {" ".join(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)}
    return _majority([xxh3_64_intdigest(triple.encode()) for triple in triples])


def _majority(hashes: list[int]) -> int:
    """Return a number with each bit that more than half of the hashes have."""
    half = len(hashes) / 2
    result = 0
    for first in range(0, BITS, 8):
        counts = sum([_SPREAD[(one >> first) & 255] for one in hashes])
        for bit in range(8):
            if (counts >> (_LANE * bit)) & _MASK > half:
                result |= 1 << (first + bit)
    return result


def distance(one: int, other: int) -> int:
    """Return the number of bits in which two simhashes differ."""
    return (one ^ other).bit_count()


def blocks(value: int) -> tuple[int, int, int, int]:
    """Return the four 16-bit blocks of a simhash, each with its place above it: 0 to 4 * 65536 - 1.

    Two simhashes that differ in at most `LARGEST_DISTANCE` bits have a block in common.
    """
    return (
        value & 0xFFFF,
        0x1_0000 | (value >> 16) & 0xFFFF,
        0x2_0000 | (value >> 32) & 0xFFFF,
        0x3_0000 | (value >> 48) & 0xFFFF,
    )


SIZE = 16
"""Bytes of a fingerprint. It is cryptographic: nobody can write a page that passes for another one."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Makes the fingerprints of one source; pages with equal fingerprints are duplicates.

    With `by_text` title and visible text count, and a page without visible text, or of which only a part could be
    read, is compared by its body; without it all bodies are. `meta` adds the META values. Only the first `cut_off`
    bytes count, all if it is None.
    """

    by_text: bool = True
    meta: bool = False
    cut_off: int | None = None
    near: bool = False
    """Texts that are nearly equal count as equal."""
    near_words: int = 20
    """Texts with fewer words are compared exactly."""

    def of(self, page: Page, body: bytes, *, whole: bool = True) -> bytes:
        """Return the fingerprint of a page, 16 bytes; `body` is the answer's, decompressed.

        `whole` says that nothing of its text is missing.
        """
        if self.by_text and whole and page.text:
            content, kind = f"{page.title}\0{page.text}".encode("utf-8", "replace"), b"text"
        else:
            content, kind = body, b"body"
        made = blake2b(content[: self.cut_off], digest_size=SIZE, person=kind)
        if self.meta:
            made.update(repr(sorted(page.meta.items())).encode("utf-8", "replace"))
        return made.digest()

    def near_of(self, page: Page) -> int | None:
        """Return the simhash of a page's visible text, None if it is only compared exactly."""
        return simhash(page.text, self.near_words) if self.near else None
