"""The kinds of rows of the stores, and where each engine has them; written by tools/schema.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ultracrawl.model import UrlRecord

Row = tuple[Any, ...]


class Place(NamedTuple):
    """Where an engine has the rows of a kind."""

    table: str
    columns: tuple[str, ...]
    """The columns of the fields of a row, in their order."""
    key: tuple[str, ...]
    """The columns of the primary key, by which rows are sorted."""


class Places(NamedTuple):
    """Where both engines have the rows of a kind."""

    sqlite: Place
    postgresql: Place
    of_source: bool = True
    """Whether they are of a source, and not of the project."""


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
    first_at: float
    last_at: float
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
    alone: bool


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


def _at(kind: type[Any], table: str, key: str, /, **others: str) -> Place:
    """Return a place whose columns are the fields of a kind, but for `others`."""
    return Place(table, tuple(others.get(name, name) for name in kind._fields), tuple(key.split()))


def _alike(kind: type[Row], table: str, key: str, *, of_source: bool = True) -> Places:
    place = _at(kind, table, key)
    return Places(place, place, of_source)


PLACES: Mapping[type[Row], Places] = {
    RunRow: _alike(RunRow, "run", "number"),
    ListingRow: _alike(ListingRow, "listing", "run"),
    UrlRow: Places(_at(UrlRow, "url", "id"), _at(UrlRow, "url", "key")),
    RevisitRow: Places(_at(RevisitRow, "revisit", "id", key="id"), _at(RevisitRow, "revisit", "key")),
    FailureRow: _alike(FailureRow, "failure", "key rule"),
    QueueRow: Places(
        _at(QueueRow, "queue", "site level rank depth seq", key="id"),
        _at(QueueRow, "queue", "site level rank depth seq"),
    ),
    AllowanceRow: _alike(AllowanceRow, "allowance", "site"),
    DetourRow: _alike(DetourRow, "detour", "key"),
    RetainedRow: _alike(RetainedRow, "retained", "purpose key"),
    ExpiryRow: _alike(ExpiryRow, "expiry", "key"),
    CopyRow: _alike(CopyRow, "copy", "key"),
    SiteRow: _alike(SiteRow, "known_site", "site"),
    SitemapRow: _alike(SitemapRow, "sitemap", "key"),
    AnnouncedRow: _alike(AnnouncedRow, "announced", "key"),
    FeedLinkRow: _alike(FeedLinkRow, "feed_link", "feed key"),
    SignatureRow: _alike(SignatureRow, "near", "block fingerprint"),
    AnchorRow: _alike(AnchorRow, "anchor", "mark"),
    AnchorTextRow: _alike(AnchorTextRow, "anchor_text", "text"),
    PageAnchorsRow: _alike(PageAnchorsRow, "anchor_page", "key"),
    RedirectRow: _alike(RedirectRow, "anchor_redirect", "key"),
    SubmittedTextsRow: _alike(SubmittedTextsRow, "anchor_document", "key"),
    DroppedAnchorsRow: _alike(DroppedAnchorsRow, "anchor_left", "number"),
    DepthDueRow: _alike(DepthDueRow, "depth_due", "key"),
    ClockRow: _alike(ClockRow, "site", "site", of_source=False),
    RobotsRow: _alike(RobotsRow, "robots", "origin shown", of_source=False),
    SessionRow: _alike(SessionRow, "session", "name", of_source=False),
    ScheduleRow: Places(
        _at(ScheduleRow, "schedule", "name"),
        _at(ScheduleRow, "schedule", "name", left="unfinished"),
        of_source=False,
    ),
    ScheduleRunRow: Places(
        _at(ScheduleRunRow, "run", "number"), _at(ScheduleRunRow, "schedule_run", "number"), of_source=False
    ),
    PausedRow: _alike(PausedRow, "paused", "source", of_source=False),
    OrderRow: _alike(OrderRow, "command", "number", of_source=False),
}
"""The places of each kind, in the order in which they are written: URLs before what is about them.

SQLite has a table for each purpose of retained documents, and none of this name.
"""
