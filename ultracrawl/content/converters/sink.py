"""Where converters put what they find, within the limits of a conversion."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ultracrawl.content.converters.budget import Budget
from ultracrawl.content.converters.errors import LimitReachedError
from ultracrawl.model import Conversion

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
