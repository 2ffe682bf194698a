"""Content fingerprints, and signatures of nearly equal texts (b-bit minwise hashing, Li and König 2010)."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import blake2b
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from ultracrawl.dataclass import dataclass
from ultracrawl.model import Page
from ultracrawl.rules.access.readers import is_typed

BITS = 64
SHINGLE = 3
"""Number of words hashed together."""
PARTS, PART_BITS = 16, 4
"""A signature has 16 parts of 4 bits; the share of equal parts estimates the share of common shingles."""
MAX_DISTANCE = 4
"""Maximum number of differing parts of near-duplicates: at least three quarters of the shingles are common."""
FORM = 1
"""Number of the form of stored signatures, in their blocks: those of another form are not compared. 0 was a simhash."""
KEPT = 256
"""A longer text is represented by its shingles with the smallest hashes."""

_WORD = re.compile(r"\w+")
_HASH_SIZE = BITS // 8
_MASK = (1 << BITS) - 1
_SPREAD = 0x9E37_79B9_7F4A_7C15
"""An odd number: multiplied by it, the smallest hashes are spread over all numbers."""
_SEEDS = tuple(xxh3_64_intdigest(bytes([part])) for part in range(PARTS))
_LOWEST_BITS = int("1" * PARTS, 16)


def signature(text: str, min_words: int = 0) -> int | None:
    """Return the signature of a text as an unsigned 64-bit number; None if it has too few words.

    Words are lower-cased and without punctuation; each different shingle counts once.
    """
    words = " ".join(_WORD.findall(text.lower())).encode().split()
    if len(words) < max(min_words, SHINGLE):
        return None
    shingles = set(map(b" ".join, zip(*(words[at:] for at in range(SHINGLE)), strict=False)))
    kept = [number * _SPREAD & _MASK for number in sorted(map(xxh3_64_intdigest, shingles))[:KEPT]]
    result = 0
    for seed in _SEEDS:
        # The hash that is nearest to the seed is a random one of the text, and the same one in a similar text.
        nearest = min(map(seed.__xor__, kept)) ^ seed
        result = result << PART_BITS | nearest % (1 << PART_BITS)
    return result


def distance(one: int, other: int) -> int:
    """Return the number of parts in which two signatures differ."""
    differing = one ^ other
    differing |= differing >> 2
    differing |= differing >> 1
    return (differing & _LOWEST_BITS).bit_count()


def blocks(value: int) -> tuple[int, int, int, int]:
    """Return the four 16-bit blocks of a signature, each with its index and the number of the form above them.

    Two signatures that differ in at most 3 parts have a block in common, most of those that differ in 4 do.
    """
    first = FORM << 18
    return (
        first | value & 0xFFFF,
        first | 0x1_0000 | (value >> 16) & 0xFFFF,
        first | 0x2_0000 | (value >> 32) & 0xFFFF,
        first | 0x3_0000 | (value >> 48) & 0xFFFF,
    )


SIZE = 16
"""Bytes of a fingerprint. It is cryptographic: nobody can forge a page with the fingerprint of another."""


class ContentMark(NamedTuple):
    """The marks by which a document is compared with others of its source."""

    fingerprint: bytes
    signature: int | None = None
    """None if nearly equal documents are no duplicates."""

    def among(self, others: str) -> ContentMark:
        """Return the mark among documents that agree in `others`, such as their readers; the same for an empty text.

        Marks among different others differ: fingerprints always, signatures in nearly all of their parts. Among equal
        others, signatures differ in as many parts as before.
        """
        if not others:
            return self
        text = others.encode("utf-8", "replace")
        digest = blake2b(self.fingerprint + text, digest_size=SIZE, person=b"among").digest()
        if self.signature is None:
            return ContentMark(digest)
        mask = int.from_bytes(blake2b(text, digest_size=_HASH_SIZE, person=b"among").digest())
        return ContentMark(digest, self.signature ^ mask)


def readers_mark(readers: Collection[str]) -> str:
    """Return a text that is equal for equal sets of readers; empty for a public document."""
    return repr(sorted(set(readers))) if readers else ""


def type_mark(readers: Collection[str]) -> str:
    """Return a text that tells apart readers whose names are equal without their types; empty if none has one.

    It comes after the `readers_mark` of the bare names: so a fingerprint of before readers had types becomes one of
    today without the content.
    """
    return repr(sorted(set(readers))) if any(map(is_typed, readers)) else ""


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
        """Return the signature of a page's visible text, None if it is compared exactly."""
        return signature(page.text, self.near_words) if self.near else None
