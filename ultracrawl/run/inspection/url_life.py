"""What the state and the logs know of one URL: the pages that link to it, its visits, and what the next crawl does."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.logs.log_files import log_path, printable, rotated_path
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import crawl_status
from ultracrawl.stores.project_stores import source_notes, state_to_read
from ultracrawl.stores.site_orders import SiteAction, waiting_actions

_KEY_BYTES = 8
_MOST_READ = 16 << 20
"""Bytes that are read of the end of a log."""
_COLUMNS = 8
_FETCHING = frozenset({SiteAction.ADD, SiteAction.REFETCH, SiteAction.RESTORE})


class LoggedVisit(NamedTuple):
    """A download as the log of fetches has it."""

    time: str
    status: str
    """The status, or the class of an error."""
    media_type: str
    size: str
    seconds: str
    depth: str
    url: str
    result: str


class Prospect(NamedTuple):
    """What the crawls to come do about a URL."""

    is_fetched: bool
    """Whether it waits to be fetched, now or again."""
    is_removed: bool
    """Whether a person has removed it, and no crawl has carried that out yet."""
    is_crawled: bool
    """Whether the source is being crawled, so that this crawl does it."""


def prospect_of(project: Project, source: str, urls: Sequence[str]) -> Prospect:
    """Return what the crawls to come do about a document by its URLs, the access URL first. Raises `StateError`."""
    notes = source_notes(project, source)
    ordered = waiting_actions(notes, urls) if notes is not None else ()
    with state_to_read(project, source) as store:
        waits = store is not None and store.queue.is_waiting(url_key(urls[0]))
    last = next(iter(ordered[::-1]), None)
    return Prospect(
        last in _FETCHING or (waits and last is not SiteAction.DELETE),
        last is SiteAction.DELETE,
        crawl_status(notes) is not None,
    )


def linking_pages(links: Iterable[tuple[int, bytes]], key: int) -> Iterator[int]:
    """Yield the keys of the pages that link to a URL, of (key, link keys of 8 bytes each)."""
    wanted = array("q", [key]).tobytes()
    for page, targets in links:
        at = targets.find(wanted)
        while at >= 0 and at % _KEY_BYTES:
            at = targets.find(wanted, at + 1)
        if at >= 0 and page != key:
            yield page


def logged_visits(project: Project, source: str, url: str) -> Iterator[LoggedVisit]:
    """Yield the visits of a URL in the log of fetches, the newest first; none without a log."""
    path = log_path(project, source, "fetch")
    for file in (path, rotated_path(path)):
        with suppress(OSError), file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - _MOST_READ))
            lines = log.read().splitlines()
            wanted = f"\t{printable(url)}\t".encode("utf-8", "backslashreplace")
            for line in reversed(lines):
                columns = line.decode("utf-8", "replace").split("\t") if wanted in line else []
                if len(columns) == _COLUMNS:
                    yield LoggedVisit(*columns)
