"""Interface for copying whole stores from one storage engine to another: rows of each kind, one iterator each.

The rows are plain values; the meaning of each is described beside the part of the store that writes it. Whatever an
engine derives from them (numbers of URLs by outcome, look-up tables) it makes again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from ultracrawl.model import UrlRecord


class RunRow(NamedTuple):
    """A run; see `RunMark`."""

    number: int
    started: float
    finished: float
    scope: str
    report: str
    cycle: int
    minor: int
    due: float
    mode: str
    deleted: int


class ListingRow(NamedTuple):
    """How far a run has listed its source."""

    run: int
    state: str


class UrlRow(NamedTuple):
    """A known URL; `number` orders URLs by discovery, and `record` has whether its document is submitted or removed."""

    number: int
    key: int
    site: str
    record: UrlRecord


class RevisitRow(NamedTuple):
    """The visits to a URL; see `ChangeHistory`, `Advice`."""

    key: int
    seen: int
    first: float
    last: float
    checks: int
    changes: int
    quiet: float
    modified: float
    markup: bool
    changefreq: str
    priority: float | None
    told: float


class FailureRow(NamedTuple):
    """The errors of a URL under a deletion rule."""

    key: int
    rule: str
    errors: int


class QueueRow(NamedTuple):
    """A URL in the queue; see `QueueEntry`."""

    site: str
    level: int
    rank: int
    depth: int
    seq: int
    key: int
    hops: int


class AllowanceRow(NamedTuple):
    """How many new URLs of a site may still be fetched."""

    site: str
    remaining: int


class DetourRow(NamedTuple):
    """The off-focus hops to a URL."""

    key: int
    hops: int


class RetainedRow(NamedTuple):
    """A retained document; `purpose` is the value of a `Retained`."""

    purpose: str
    key: int
    document: bytes


class ExpiryRow(NamedTuple):
    """When the description of a URL expires."""

    key: int
    at: float


class CopyRow(NamedTuple):
    """The checksum of a content; see `Copy`."""

    key: int
    checksum: str
    holds: bool


class SiteRow(NamedTuple):
    """A site of one source; see `StoredSite`."""

    site: str
    seen: float
    own_delay: float | None
    given_up: int
    robots: str
    stand_in: str


class SitemapRow(NamedTuple):
    """A sitemap; see `StoredSitemap`."""

    key: int
    run: int
    is_index: bool
    dates: bytes


class AnnouncedRow(NamedTuple):
    """The `lastmod` date of a URL in the sitemaps of this run."""

    key: int
    lastmod: int


class FeedLinkRow(NamedTuple):
    """A link of a feed; see `FeedLink`."""

    feed: int
    key: int
    seen: float
    date: float
    place: int
    expired: bool
    only: bool


class SignatureRow(NamedTuple):
    """The signature (64 bits, signed) of a text under one of its blocks."""

    block: int
    fingerprint: bytes
    signature: int


class AnchorRow(NamedTuple):
    """An anchor text of a target, and the number of pages that have it."""

    mark: int
    target: int
    fragment: str
    text: str
    pages: int


class AnchorTextRow(NamedTuple):
    """The number of targets of an anchor text; `turned` if it has just begun or ceased to count."""

    text: str
    targets: int
    turned: bool


class PageAnchorsRow(NamedTuple):
    """The marks of the links of a page, 8 bytes each."""

    key: int
    marks: bytes


class RedirectRow(NamedTuple):
    """The redirect target of a URL."""

    key: int
    target: int


class SubmittedTextsRow(NamedTuple):
    """A hash of the anchor texts that were submitted with a document, None for none."""

    key: int
    told: int | None
    crowded: bool
    due: bool


class DroppedAnchorsRow(NamedTuple):
    """What is still to be subtracted of a page that was dropped: its marks, or the target of its redirect."""

    marks: bytes | None
    target: int | None


class DepthDueRow(NamedTuple):
    """A URL whose depth is to be corrected, and the targets of links it dropped, 8 bytes each."""

    key: int
    dropped: bytes


class ClockRow(NamedTuple):
    """A site of the project; see `SiteClock`."""

    site: str
    next_at: float
    requested: float
    delay: float
    why: str
    on_hold: bool
    errors: int
    slowed: float
    last_error: str
    error_at: float


class RobotsRow(NamedTuple):
    """A robots.txt; see `StoredRobots`."""

    origin: str
    shown: str
    received: float
    status: int
    body: bytes
    error: str
    timed_out: bool
    failed: float
    guessed: float


class SessionRow(NamedTuple):
    """The session of a log-in, encrypted; see `StoredSession`."""

    name: str
    since: float
    sealed: bytes


class ScheduleRow(NamedTuple):
    """The status of a schedule; see `KeptSchedule`. `left` is a JSON array."""

    name: str
    status: str
    error: str
    due: float | None
    begun: float
    ended: float
    log: str
    left: str


class ScheduleRunRow(NamedTuple):
    """A run in the history of a schedule, in their order; see `ScheduleRun`. `sources` is a JSON object."""

    schedule: str
    begun: float
    ended: float
    status: str
    error: str
    log: str
    sources: str


class PausedRow(NamedTuple):
    """A source that is not started until it is resumed."""

    source: str


class OrderRow(NamedTuple):
    """An order for a schedule or source that was not taken yet, in their order; see `ScheduleOrder`."""

    name: str
    of_source: bool
    command: str
    at: float


Row = tuple[Any, ...]
R = TypeVar("R", bound=Row)

OF_SOURCE: Sequence[type[Row]] = (
    RunRow, ListingRow, UrlRow, RevisitRow, FailureRow, QueueRow, AllowanceRow, DetourRow, RetainedRow, ExpiryRow,
    CopyRow, SiteRow, SitemapRow, AnnouncedRow, FeedLinkRow, SignatureRow, AnchorRow, AnchorTextRow, PageAnchorsRow,
    RedirectRow, SubmittedTextsRow, DroppedAnchorsRow, DepthDueRow,
)  # fmt: skip
"""The kinds of rows of a source, in the order in which they are written: URLs before what is about them."""
OF_PROJECT: Sequence[type[Row]] = (
    ClockRow, RobotsRow, SessionRow, ScheduleRow, ScheduleRunRow, PausedRow, OrderRow,
)  # fmt: skip
"""The kinds of rows that the sources of a project share."""


def name_of(kind: type[Row]) -> str:
    """Return the name of a kind of rows, such as `page_anchors`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__.removesuffix("Row")).lower()


class StoreExport(Protocol):
    """The rows of all stores of a project; while it is open no source can be crawled. Raises `StateError`."""

    sources: Sequence[str]
    """The sources that have a store, sorted."""

    def rows(self, kind: type[R], source: str = "") -> Iterator[R]:
        """Yield the rows of a kind, of a source or shared; one iterator at a time."""


class StoreImport(Protocol):
    """Writes the rows of all stores of a project. Raises `StateError`."""

    def write(self, kind: type[R], rows: Iterable[R], source: str = "") -> None:
        """Add rows, of a source or shared."""

    def count(self, kind: type[Row], source: str = "") -> int:
        """Return the number of rows in the stores."""

    def finish(self) -> None:
        """Make everything durable, and fit to be crawled with."""


@runtime_checkable
class TransferEngine(Protocol):
    """A storage engine whose stores can be copied to another engine, and from one."""

    def exporting(self, folder: Path) -> AbstractContextManager[StoreExport]:
        """Open all stores to be read. Raises `UserError` if one of the sources is being crawled, `StateError`."""

    def importing(self, folder: Path, sources: Sequence[str]) -> AbstractContextManager[StoreImport]:
        """Create empty stores of sources that have none, to be written, and empty the shared ones.

        Raises `UserError` if one of the sources is being crawled, `StateError`.
        """
