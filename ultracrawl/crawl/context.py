"""What the features of one crawl work with: the source and its rules, the time, and the ports to act through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.crawl_run import CrawlRun
    from ultracrawl.crawl.hooks import Hooks
    from ultracrawl.crawl.ports import DocumentPort, LinkQueue
    from ultracrawl.crawl.recorder import Recorder
    from ultracrawl.crawl.run_counters import RunCounters
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.model import RunReport
    from ultracrawl.sources import CompiledSource, DataSource, Project
    from ultracrawl.stores import RunMark, SiteStore, Store


class Ports:
    """The ports of a crawl, set when it begins; before that, each is missing (AttributeError)."""

    store: Store
    sites: SiteStore
    documents: DocumentPort
    endings: Recorder
    queue: LinkQueue


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """One crawl of one source, as its features and components see it.

    A feature acts through the ports alone: `queue` (links, redirect targets, retries), `documents` (into the index and
    out of it), `store` (what is known of URLs), `sites` (what the project knows of sites), `run` (problems, the end of
    the run). Visits end through `endings`, the one place that records outcomes. Ports but `run` are there once the
    crawl has begun.
    """

    project: Project
    source: DataSource
    rules: CompiledSource
    clock: Callable[[], float]
    """The time, in seconds since 1970."""
    run: CrawlRun
    hooks: Hooks
    visits: dict[int, Visit] = field(default_factory=dict)
    """What is in flight, by key."""
    ports: Ports = field(default_factory=Ports)

    @property
    def store(self) -> Store:
        """What is known of URLs, sites, runs and the queue."""
        return self.ports.store

    @property
    def sites(self) -> SiteStore:
        """What all sources of the project know of sites together."""
        return self.ports.sites

    @property
    def documents(self) -> DocumentPort:
        """The way of documents into the indexes, and out of them."""
        return self.ports.documents

    @property
    def endings(self) -> Recorder:
        """The one place where visits end."""
        return self.ports.endings

    @property
    def queue(self) -> LinkQueue:
        """What is still to be fetched."""
        return self.ports.queue

    def open_queue(self, queue: LinkQueue) -> None:
        """Take the port `queue`, when the scheduler opens."""
        self.ports.queue = queue

    @property
    def report(self) -> RunReport:
        """The counts of the run, as they are now."""
        return self.run.counters.as_report()

    @property
    def counters(self) -> RunCounters:
        """What counts in the run."""
        return self.run.counters

    @property
    def mark(self) -> RunMark:
        """The run as the store knows it."""
        return self.run.mark

    def flush(self) -> None:
        """Make documents and records durable, in that order."""
        for prepare in self.hooks.before_flush:
            prepare()
        self.documents.writer.sync()
        self.store.flush()
        for told in self.hooks.flushed:
            told()
