"""What of a page is compared with other pages, as a fingerprint (FAST 5.1 H52, H54, H55)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ultracrawl.model import Page
from ultracrawl.rules.duplicates.simhash import simhash

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
