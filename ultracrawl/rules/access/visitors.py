"""What visitors without a session get in place of a page, and whether another answer is the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from hashlib import blake2b
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.access.login import joined
from ultracrawl.rules.walls import UNSEEN

_WORD = re.compile(r"[^\W\d_]+")
_URL_WORD = re.compile(r"\w+")
_BYTES, _PART = 512, 4
"""Bodies are not compared if their lengths differ by more bytes, and by more than this part."""


class Likeness(Enum):
    """How an answer resembles that to visitors."""

    NONE = "none"
    PERHAPS = "perhaps"
    """The same status or target, which pages may also have for those who are let in."""
    SAME = "same"
    """The same text."""


@dataclass(frozen=True, slots=True)
class VisitorPage:
    """The answer at a URL to a request without a session."""

    url: str
    status: int
    target: str = ""
    """Where it redirects to, without the query."""
    words: str = ""
    """Digest of the text of a page: its words without numbers, and without those of its URL."""
    size: int = 0
    """Bytes of its body."""

    @classmethod
    def of(cls, url: str, status: int, location: str, body: bytes) -> VisitorPage:
        """Return the mark of an answer; `body` is decoded, and empty unless it is HTML."""
        if status in REDIRECTS and location:
            return cls(url, status, joined(url, location).partition("#")[0].partition("?")[0])
        if status != 200:
            return cls(url, status)
        return cls(url, status, "", _words(url, body), len(body))

    def likeness(self, url: str, status: int, location: str, body: bytes) -> Likeness:
        """Return how the answer at another URL resembles this one; `body` as in `of`."""
        if status != self.status:
            return Likeness.NONE
        if self.words and abs(len(body) - self.size) > max(_BYTES, self.size // _PART):
            return Likeness.NONE
        other = VisitorPage.of(url, status, location, body)
        if (other.target, other.words) != (self.target, self.words):
            return Likeness.NONE
        return Likeness.SAME if self.words else Likeness.PERHAPS

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, to be stored as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> VisitorPage:
        """Return what `as_dict` once returned. Raises `TypeError` for anything else."""
        return cls(**fields)


def _words(url: str, body: bytes) -> str:
    if not body:
        return ""
    text = UNSEEN.sub(b" ", body.lower()).decode("utf-8", "replace")
    own = set(_URL_WORD.findall(url.lower()))
    words = [word for word in _WORD.findall(text) if word not in own]
    return blake2b(" ".join(words).encode() if words else body, digest_size=16).hexdigest()
