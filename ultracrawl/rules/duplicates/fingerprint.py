"""Content fingerprints, and the 64-bit simhash (Charikar 2002)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from xxhash import xxh3_64_digest

from ultracrawl.model import Page

BITS = 64
SHINGLE = 3
"""Number of words hashed together."""
MAX_DISTANCE = 3
"""Maximum number of differing bits of near-duplicates, so that one of four 16-bit blocks is always equal."""

_WORD = re.compile(r"\w+")
_HASH_SIZE = BITS // 8


def simhash(text: str, min_words: int = 0) -> int | None:
    """Return the simhash of a text as an unsigned 64-bit number; None if it has too few words.

    Words are lower-cased and without punctuation; each different shingle counts once.
    """
    words = " ".join(_WORD.findall(text.lower())).encode().split()
    if len(words) < max(min_words, SHINGLE):
        return None
    shingles = set(map(b" ".join, zip(*(words[at:] for at in range(SHINGLE)), strict=False)))
    return _majority(b"".join(map(xxh3_64_digest, shingles)))


def _majority(hashes: bytes) -> int:
    """Return the number with the bits set that are set in more than half of the concatenated hashes."""
    count = len(hashes) // _HASH_SIZE
    lowest_bits = int.from_bytes(b"\x01" * count)
    result = 0
    for place in range(_HASH_SIZE):
        column = int.from_bytes(hashes[place::_HASH_SIZE])
        for bit in range(8):
            if ((column >> bit) & lowest_bits).bit_count() > count / 2:
                result |= 1 << (BITS - 8 - 8 * place + bit)
    return result


def distance(one: int, other: int) -> int:
    """Return the number of bits in which two simhashes differ."""
    return (one ^ other).bit_count()


def blocks(value: int) -> tuple[int, int, int, int]:
    """Return the four 16-bit blocks of a simhash, each with its index in bits 16 and 17.

    Two simhashes that differ in at most `MAX_DISTANCE` bits have a block in common.
    """
    return (
        value & 0xFFFF,
        0x1_0000 | (value >> 16) & 0xFFFF,
        0x2_0000 | (value >> 32) & 0xFFFF,
        0x3_0000 | (value >> 48) & 0xFFFF,
    )


SIZE = 16
"""Bytes of a fingerprint. It is cryptographic: nobody can forge a page with the fingerprint of another."""


class ContentMark(NamedTuple):
    """The marks by which a document is compared with others of its source."""

    fingerprint: bytes
    simhash: int | None = None
    """None if nearly equal documents are no duplicates."""

    def among(self, others: str) -> ContentMark:
        """Return the mark among documents that agree in `others`, such as their readers; the same for an empty text.

        Marks among different others differ: fingerprints always, simhashes in about half of their bits. Among equal
        others, simhashes differ in as many bits as before.
        """
        if not others:
            return self
        text = others.encode("utf-8", "replace")
        digest = blake2b(self.fingerprint + text, digest_size=SIZE, person=b"among").digest()
        if self.simhash is None:
            return ContentMark(digest)
        mask = int.from_bytes(blake2b(text, digest_size=_HASH_SIZE, person=b"among").digest())
        return ContentMark(digest, self.simhash ^ mask)


def readers_mark(readers: Collection[str]) -> str:
    """Return a text that is equal for equal sets of readers; empty for a public document."""
    return repr(sorted(set(readers))) if readers else ""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Makes the fingerprints of one source; pages with equal fingerprints are duplicates.

    With `by_text` they are made of title and visible text, but of the body for pages without visible text or read
    in part; without it always of the body. `meta` adds the META values. Only the first `cut_off`
    bytes are used, all if it is None.
    """

    by_text: bool = True
    meta: bool = False
    cut_off: int | None = None
    near: bool = False
    """Whether near-duplicates count as duplicates."""
    near_words: int = 20
    """Texts with fewer words are compared exactly."""
    keyed: frozenset[str] = frozenset()
    """URL schemes of documents that a key identifies: they have no duplicates."""

    def compares(self, url: str) -> bool:
        """Return whether the document of an access URL is compared with others."""
        return url.partition(":")[0] not in self.keyed

    def of(self, page: Page, body: bytes, *, whole: bool = True) -> bytes:
        """Return the 16-byte fingerprint of a page; `body` is the decompressed body of the response.

        `whole` is False if the page was read in part.
        """
        if self.by_text and whole and page.text:
            content, kind = f"{page.title}\0{page.text}".encode("utf-8", "replace"), b"text"
        else:
            content, kind = body, b"body"
        digest = blake2b(content[: self.cut_off], digest_size=SIZE, person=kind)
        if self.meta:
            digest.update(repr(sorted(page.meta.items())).encode("utf-8", "replace"))
        return digest.digest()

    def near_of(self, page: Page) -> int | None:
        """Return the simhash of a page's visible text, None if it is compared exactly."""
        return simhash(page.text, self.near_words) if self.near else None
