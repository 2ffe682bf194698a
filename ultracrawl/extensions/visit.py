"""One URL on its way through the crawl, from the frontier to its outcome."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from ultracrawl.state import QueueEntry

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.model import UrlRecord

META_KEY = "ultracrawl_visit"


@dataclass(slots=True, eq=False)
class Visit:
    """A URL that was taken out of the frontier and has no outcome yet.

    `record` is what was known before this visit. The later fields are filled on the way: validators and checksum
    of the answer, the keys of the accepted links.
    """

    entry: QueueEntry
    record: UrlRecord
    attempts: int = 0
    """Requests made for this visit so far that failed and were tried again."""
    rescan: bool = False
    """Fetch and scan the page even if it is unchanged."""
    done: bool = False
    items: int = 0
    """Items that were handed to the pipelines and have not come out."""
    status: int = 0
    etag: str = ""
    last_modified: str = ""
    checksum: bytes = b""
    links: bytes = b""

    @property
    def url(self) -> str:
        """The access URL."""
        return self.entry.url

    @property
    def shown_url(self) -> str:
        """The display URL."""
        return self.entry.display_url or self.entry.url


class LinkQueue(Protocol):
    """Where links, redirect targets and failed visits go: the scheduler."""

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs; returns how many were new."""

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many."""

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect."""

    def retry(self, visit: Visit, delay: float) -> None:
        """Let a visit that failed wait at least `delay` seconds and be tried again."""

    def again(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: have its page fetched in this run, whether it was or not."""


def visit_of(request: Request) -> Visit | None:
    """Return the visit that a request belongs to; None for robots.txt and requests of somebody else's code."""
    return cast("Visit | None", request.meta.get(META_KEY))
