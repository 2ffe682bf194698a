"""What every converter is given: a document, a sink for what it finds, within a budget, and how it can end early."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ultracrawl.model import Conversion


class Source(NamedTuple):
    """A document to be converted."""

    body: bytes
    media_type: str
    content_type: str = ""
    """The header's value, for its charset."""
    name: str = ""
    """The name of a file inside another document; empty for the document itself."""
    default_charset: str = ""


class ConversionError(ValueError):
    """The document cannot be converted: broken, encrypted, or not what it claims to be (Ultra Search status 903)."""


class LimitReachedError(Exception):
    """A limit ends the conversion; what was gathered until then is the result, marked as truncated."""


class ConversionLimits(NamedTuple):
    """Bounds of one conversion that its converter keeps by itself; process limits hold besides."""

    text: int = 5_000_000
    """Most characters of text."""
    unpacked: int = 200 << 20
    """Most bytes that are unfolded from the document and everything inside it."""
    members: int = 1000
    """Most files that are read inside a document."""
    nesting: int = 3
    """Most documents inside each other."""
    seconds: float = 50.0
    """Time after which a converter ends at the next page or member, with what it has."""


class Budget:
    """Counts what a conversion uses; every method raises `LimitReachedError` when a limit is reached."""

    def __init__(self, limits: ConversionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._end = clock() + limits.seconds
        self._text = limits.text
        self._unpacked = limits.unpacked
        self._members = limits.members

    def check_time(self, progress: str = "") -> None:
        """End the conversion when its time is over; `progress` says how far it came ("12 of 90 pages")."""
        if self._clock() > self._end:
            what = f"only {progress} were read" if progress else "the document was not read to its end"
            raise LimitReachedError(f"{what} (conversion.timeout)")

    def take_text(self, characters: int) -> int:
        """Return how many of so many characters may be kept."""
        granted = min(characters, self._text)
        self._text -= granted
        return granted

    @property
    def unpacked_left(self) -> int:
        """Bytes that may still be unfolded."""
        return self._unpacked

    def take_unpacked(self, size: int) -> None:
        """Account for bytes that were unfolded."""
        self._unpacked -= size
        if self._unpacked < 0:
            limit = self.limits.unpacked
            raise LimitReachedError(f"it unfolds to more than {limit} bytes (conversion.unpacked)")

    def take_member(self) -> None:
        """Account for a file inside the document that is read."""
        self._members -= 1
        if self._members < 0:
            limit = self.limits.members
            raise LimitReachedError(f"only the first {limit} files in it were read (conversion.members)")
        self.check_time()


MAX_LINKS = 10_000
_LONGEST_LINK = 4096
_MAX_NAMES = 200
_MAX_VALUES = 100
_LONGEST_VALUE = 2000

Deliver = Callable[[str], None]
"""Takes pieces of text as they are found."""


class Sink:
    """Gathers title, text, metadata and links of one document, and the text and links of what is inside it."""

    def __init__(self, budget: Budget, deliver: Deliver | None = None, depth: int = 0) -> None:
        self.budget = budget
        self.depth = depth
        """How many documents this one is inside."""
        self.title = ""
        self.language = ""
        self.metadata: dict[str, list[str]] = {}
        self.truncated = ""
        self._pieces: list[str] = []
        self._deliver: Deliver = deliver or self._pieces.append
        self._links: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Add a paragraph or another piece of text. Raises `LimitReachedError` when there is too much of it."""
        folded = " ".join(text.replace("\0", " ").split())
        if not folded:
            return
        granted = self.budget.take_text(len(folded) + 1)
        self._deliver(folded[:granted])
        if granted <= len(folded):
            limit = self.budget.limits.text
            raise LimitReachedError(f"only the first {limit} characters were kept (conversion.text)")

    def set_title(self, title: str) -> None:
        """Take the title; the first one counts."""
        self.title = self.title or _short(title)

    def set_language(self, language: str) -> None:
        """Take the language, if it looks like the code of one; the first one counts."""
        code = language.strip().replace("_", "-")
        if not self.language and 2 <= len(code) <= 35 and code.replace("-", "").isalnum():
            self.language = code

    def meta(self, name: str, *values: str) -> None:
        """Add values of a document attribute; empty ones are left out."""
        for value in values:
            short = _short(value)
            if not short or (name not in self.metadata and len(self.metadata) >= _MAX_NAMES):
                continue
            known = self.metadata.setdefault(name, [])
            if short not in known and len(known) < _MAX_VALUES:
                known.append(short)

    def keywords(self, text: str) -> None:
        """Add keywords that stand in one text, with commas or semicolons between them."""
        self.meta("keywords", *text.replace(";", ",").split(","))

    def link(self, href: str) -> None:
        """Add the target of a link; of a document inside another, only one that means something outside."""
        href = href.strip()
        absolute = href.startswith(("http://", "https://", "ftp://"))
        if (
            href
            and (absolute or not self.depth)
            and len(href) <= _LONGEST_LINK
            and len(self._links) < MAX_LINKS
        ):
            self._links[href] = None

    def absolute_links(self, hrefs: Iterable[str]) -> None:
        """Add those targets that mean something outside their own container."""
        for href in hrefs:
            if href.startswith(("http://", "https://", "ftp://")):
                self.link(href)

    def note(self, truncated: str) -> None:
        """Remember that a part could not be read; the first reason counts."""
        self.truncated = self.truncated or truncated

    def inner(self) -> Sink:
        """Return the sink of a document inside this one: text and links are shared, all else is its own.

        Raises `LimitReachedError` when documents are nested too deep.
        """
        limit = self.budget.limits.nesting
        if self.depth >= limit:
            reason = f"documents are inside each other more than {limit} times (conversion.nesting)"
            raise LimitReachedError(reason)
        inner = Sink(self.budget, self._deliver, self.depth + 1)
        inner._links = self._links
        return inner

    def conversion(self) -> Conversion:
        """Return what was gathered; its text is empty if the text was delivered elsewhere."""
        return Conversion(
            title=self.title,
            text=" ".join(self._pieces),
            language=self.language,
            metadata=self.metadata,
            links=tuple(self._links),
            truncated=self.truncated,
        )


def _short(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())[:_LONGEST_VALUE]
