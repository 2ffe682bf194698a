"""The port `documents` of a crawl, and the answers of it: which URL stands for a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.crawl.writing.writer import IndexWriter
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import UrlOutcome, UrlRecord


@dataclass(frozen=True, slots=True)
class Placed:
    """A document is on its way to the index."""

    url: str
    outcome: UrlOutcome

    def __str__(self) -> str:
        return f"{self.url} goes to the index ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Retained:
    """A document is kept: until somebody approves of it, or until another one has left the index."""

    url: str
    until_removed: str = ""
    """The URL whose place it takes, empty if it waits for an approval."""

    def __str__(self) -> str:
        return (
            f"{self.url} waits until {self.until_removed} leaves"
            if self.until_removed
            else f"{self.url} waits for approval"
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """Another URL stands for a document."""

    holder: str
    """The access URL of the other one."""
    shown: str = ""
    """The display URL that belongs to it, empty if it has the same content."""

    def __str__(self) -> str:
        if self.shown:
            return f"{self.shown} is the display URL of {self.holder}"
        return f"has the content of {self.holder}"


Placement = Placed | Retained | Refused


class DocumentPort(Protocol):
    """Documents into the index of a source and out of it."""

    writer: IndexWriter
    """What takes changes to the indexes."""

    def propose(self, visit: Visit, document: IndexDocument) -> Placement:
        """Decide which URL stands for a document, and end its visit with that. Raises `IndexStoreError`."""

    def remove(self, leaving: Iterable[UrlRecord]) -> None:
        """Have documents leave the index when the run ends, for the reasons that their records give.

        Copies of them are asked for, so that one may take the place.
        """

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index."""
