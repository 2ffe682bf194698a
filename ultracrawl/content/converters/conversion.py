"""The interface of converters: `Source`, `Sink`, `Budget`, and the exceptions that end a conversion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ultracrawl.content.languages import language_tag
from ultracrawl.model import Conversion


class Source(NamedTuple):
    """A document to convert."""

    body: bytes
    media_type: str
    content_type: str = ""
    """The value of the header, for its charset."""
    name: str = ""
    """The name of a file inside another document; empty for the outermost document."""
    default_charset: str = ""


class ConversionError(ValueError):
    """The document cannot be converted: broken, encrypted, or of another type than declared (status code 903)."""


class LimitReachedError(Exception):
    """A limit ends the conversion; the result so far is kept, marked as truncated."""


class ConversionLimits(NamedTuple):
    """Limits of one conversion that the converter itself observes; see also `ProcessLimits`."""

    text: int = 5_000_000
    """Maximum characters of text."""
    unpacked: int = 200 << 20
    """Maximum bytes decompressed from the document and everything inside it."""
    members: int = 1000
    """Maximum files converted inside a document."""
    nesting: int = 3
    """Maximum depth of documents inside each other."""
    seconds: float = 50.0
    """Seconds of processor time after which a converter ends at the next page or member, with the result so far."""


class Budget:
    """Counts the resources of a conversion; methods raise `LimitReachedError` when a limit is reached."""

    def __init__(self, limits: ConversionLimits, clock: Callable[[], float] = time.process_time) -> None:
        """Initialise; `clock` is that of the processor time which the conversion uses."""
        self.limits = limits
        self._clock = clock
        self._end = clock() + limits.seconds
        self._text = limits.text
        self._unpacked = limits.unpacked
        self._members = limits.members

    def check_time(self, progress: str = "") -> None:
        """End the conversion after its time limit; `progress` is for the message ("12 of 90 pages")."""
        if self._clock() > self._end:
            problem = f"only {progress} were read" if progress else "the document was not read to its end"
            raise LimitReachedError(f"{problem} (conversion.timeout)")

    def take_text(self, characters: int) -> int:
        """Account for text; return how many of the characters may be kept."""
        granted = min(characters, self._text)
        self._text -= granted
        return granted

    @property
    def unpacked_left(self) -> int:
        """Bytes that may still be decompressed."""
        return self._unpacked

    def take_unpacked(self, size: int) -> None:
        """Account for decompressed bytes."""
        self._unpacked -= size
        if self._unpacked < 0:
            limit = self.limits.unpacked
            raise LimitReachedError(f"it expands to more than {limit} bytes (conversion.unpacked)")

    def take_member(self) -> None:
        """Account for a file inside the document."""
        self._members -= 1
        if self._members < 0:
            limit = self.limits.members
            raise LimitReachedError(f"only the first {limit} files in it were read (conversion.members)")
        self.check_time()


MAX_LINKS = 10_000
_MAX_LINK_CHARS = 4096
_MAX_NAMES = 200
_MAX_VALUES = 100
_MAX_VALUE_CHARS = 2000

TextCallback = Callable[[str], None]
"""Receives parts of the text as they are extracted."""


class Sink:
    """Collects title, text, metadata and links of one document, and text and links of the documents inside it."""

    def __init__(self, budget: Budget, on_text: TextCallback | None = None, depth: int = 0) -> None:
        self.budget = budget
        self.depth = depth
        """The number of documents that contain this one."""
        self.title = ""
        self.language = ""
        self.metadata: dict[str, list[str]] = {}
        self.truncated = ""
        self._parts: list[str] = []
        self._on_text: TextCallback = on_text or self._parts.append
        self._links: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Add a paragraph or another part of the text. Raises `LimitReachedError` above the limit."""
        folded = " ".join(text.replace("\0", " ").split())
        if not folded:
            return
        granted = self.budget.take_text(len(folded) + 1)
        self._on_text(folded[:granted])
        if granted <= len(folded):
            limit = self.budget.limits.text
            raise LimitReachedError(f"only the first {limit} characters were kept (conversion.text)")

    def set_title(self, title: str) -> None:
        """Set the title; the first one counts."""
        self.title = self.title or _short(title)

    def set_language(self, language: str) -> None:
        """Set the language, if a text names one; the first one counts."""
        self.language = self.language or language_tag(language)

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
        """Add keywords from a text, separated by commas or semicolons."""
        self.meta("keywords", *text.replace(";", ",").split(","))

    def link(self, href: str) -> None:
        """Add the target of a link; relative ones only for the outermost document."""
        href = href.strip()
        absolute = href.startswith(("http://", "https://", "ftp://"))
        if (
            href
            and (absolute or not self.depth)
            and len(href) <= _MAX_LINK_CHARS
            and len(self._links) < MAX_LINKS
        ):
            self._links[href] = None

    def absolute_links(self, hrefs: Iterable[str]) -> None:
        """Add the absolute targets."""
        for href in hrefs:
            if href.startswith(("http://", "https://", "ftp://")):
                self.link(href)

    def note(self, truncated: str) -> None:
        """Record why a part could not be read; the first reason counts."""
        self.truncated = self.truncated or truncated

    def inner(self, on_text: TextCallback | None = None) -> Sink:
        """Return a sink for a document inside this one, which shares links and, without `on_text`, the text.

        Raises `LimitReachedError` if documents are nested too deep.
        """
        limit = self.budget.limits.nesting
        if self.depth >= limit:
            reason = f"documents are inside each other more than {limit} times (conversion.nesting)"
            raise LimitReachedError(reason)
        inner = Sink(self.budget, on_text or self._on_text, self.depth + 1)
        inner._links = self._links
        return inner

    def conversion(self) -> Conversion:
        """Return the result; its text is empty if a callback received the text."""
        return Conversion(
            title=self.title,
            text=" ".join(self._parts),
            language=self.language,
            metadata=self.metadata,
            links=tuple(self._links),
            truncated=self.truncated,
        )


def _short(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())[:_MAX_VALUE_CHARS]
