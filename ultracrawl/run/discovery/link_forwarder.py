"""Forwards links from one source to others, where each counts as a link of their own pages (FAST 5.1, 5)."""

from __future__ import annotations

import fcntl
import logging
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.errors import WorkError
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.sources import Project
from ultracrawl.system.files import cause_and_remedy

if TYPE_CHECKING:
    from ultracrawl.model import UrlRecord
    from ultracrawl.model.page import Link
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

MAX_FILE_BYTES = 64 << 20
"""Limit in bytes of the file of waiting links; further links are only logged until the file is read."""
MAX_REMEMBERED = 1_000_000
"""Limit of sent links that are remembered, so that they are sent once per run."""
BATCH = 10_000
"""Links that are read and queued at a time, to keep the event loop responsive."""
DEPTH = 1
"""Crawl depth of forwarded links: one step from a start URL."""
_TAKEN = ".taken"
_KEY = re.compile(r"#(-?\d{1,19})")
"""A line with the key of a link on an unchanged page; the other lines are URLs."""


def waiting_links(project: Project, target: str) -> Path:
    """Return the file in which links wait for a source."""
    return project.state.path / "links" / f"{target}.txt"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a file against other processes. Raises `WorkError` if locking, or the work inside, fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise WorkError(
            f"links for other sources cannot be written to {path}: {cause_and_remedy(error)}"
        ) from error


class LinkReceiver(Feature):
    """Queues the links that other sources sent to this one; they are deleted once the queue is durable."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context

    def queue_opened(self) -> None:
        """Queue the waiting links."""
        context = self._context
        if context.run.failed:
            return
        inbox = Inbox(context.project, context.source.name)
        try:
            taken = sum(context.queue.offer_links(self._urls(batch), DEPTH) for batch in inbox.batches())
            context.flush()
            inbox.forget_taken()
        except WorkError as error:
            context.run.note_problem(error)
        else:
            logger.info("%d links of other sources were new", taken)

    def _urls(self, lines: Sequence[str]) -> Iterator[str]:
        """Yield the URLs of some lines; keys of URLs that this source does not know are of no use."""
        keys = [int(found[1]) for line in lines if (found := _KEY.fullmatch(line))]
        yield from (line for line in lines if not line.startswith("#"))
        known = self._context.store.records.known_urls(keys)
        yield from (known[key][0] for key in keys if key in known)


class LinkForwarder(Feature):
    """Collects links in memory and appends them to a file per receiving source at each flush.

    The keys of all links are stored with a page, and sent again in each run in which it is unchanged and not read.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._policy = context.rules.url_policy.without_rewriting
        names = context.source.send_links_to
        self._files = [waiting_links(context.project, name) for name in names]
        self._seen: set[int] = set()
        self._lines: list[str] = []
        self._full: set[Path] = set()

    def links_found(self, visit: Visit, hrefs: Sequence[str], base: str) -> None:
        """Forward the links of a page."""
        self.send(hrefs, base)

    def send(self, hrefs: Iterable[str], base: str) -> None:
        """Forward links before any rule of this source is applied; each once per run."""
        canonical = self._policy.canonical
        for href in hrefs:
            url = canonical(href, base)
            if url is None or (key := url_key(url)) in self._seen:
                continue
            self._note_sent(key)
            self._lines.append(f"{url}\n")

    def links_resolved(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Store the links that the rules of this source exclude, too."""
        visit.note_links(array("q", dict.fromkeys([*inside, *map(url_key, located.values())])).tobytes())

    def visit_ended(self, visit: Visit) -> None:
        """Forward the stored links of an unchanged page."""
        if visit.outcome is not None and (
            visit.outcome.unchanged or visit.fetch.status == HTTPStatus.NOT_MODIFIED
        ):
            self._send_keys(visit.links or visit.record.links)

    def unchanged_skipped(self, record: UrlRecord) -> None:
        """Forward the stored links of a page that a sitemap reports as unchanged."""
        self._send_keys(record.links)

    def _send_keys(self, links: bytes) -> None:
        for key in array("q", links or b""):
            if key not in self._seen:
                self._note_sent(key)
                self._lines.append(f"#{key}\n")

    def _note_sent(self, key: int) -> None:
        if len(self._seen) >= MAX_REMEMBERED:
            self._seen.clear()
        self._seen.add(key)

    def seed_excluded(self, url: str, rule: str) -> None:
        """Forward a start URL that the boundary of this source excludes."""
        self.send([url], url)

    def before_flush(self) -> None:
        """Write the collected links to the files. Raises `WorkError`."""
        if not self._lines:
            return
        data, self._lines = "".join(self._lines).encode(), []
        for file in self._files:
            with _locked(file):
                self._append(file, data)

    def _append(self, file: Path, data: bytes) -> None:
        size = file.stat().st_size if file.exists() else 0
        if size + len(data) <= MAX_FILE_BYTES:
            with file.open("ab") as stream:
                stream.write(data)
        elif file not in self._full:
            self._full.add(file)
            logger.warning(
                "%s is full: further links are dropped until a crawl of that source reads them", file
            )


class Inbox:
    """The links that other sources sent to this one, read at the start of a run."""

    def __init__(self, project: Project, name: str) -> None:
        self._file = waiting_links(project, name)
        self._taken = self._file.with_suffix(_TAKEN)

    def batches(self) -> Iterator[list[str]]:
        """Yield the links in batches, including those that an earlier run took and did not store.

        Raises `WorkError`.
        """
        with _locked(self._file):
            self._take()
        if not self._taken.exists():
            return
        with self._taken.open(encoding="utf-8", errors="replace") as lines:
            links = (line.rstrip("\n") for line in lines if line.endswith("\n"))
            while batch := list(islice(links, BATCH)):
                yield batch

    def _take(self) -> None:
        """Move the waiting links behind those that were taken before."""
        if not self._file.exists():
            return
        if self._taken.exists():
            with self._taken.open("ab") as stream:
                stream.write(self._file.read_bytes())
            self._file.unlink()
        else:
            os.replace(self._file, self._taken)

    def forget_taken(self) -> None:
        """Delete the taken links: their queue entries are durable."""
        self._taken.unlink(missing_ok=True)
