"""The context of one crawl: its source, rules, clock and the ports through which features act."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass, field
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from ultracrawl.index.writing.destination_queues import DestinationQueues
    from ultracrawl.model import RunReport
    from ultracrawl.run.crawl_run import CrawlRun
    from ultracrawl.run.hooks import Hooks
    from ultracrawl.run.ports import DocumentPort, LinkQueue
    from ultracrawl.run.recorder import Recorder
    from ultracrawl.run.run_counters import RunCounters
    from ultracrawl.run.visit import Visit
    from ultracrawl.sources import CompiledSource, DataSource, Project
    from ultracrawl.stores import RunMark, SiteStore, Store
    from ultracrawl.stores.lease_renewer import LeaseRenewer


class Ports:
    """The ports that exist once the crawl has begun; reading one earlier raises `AttributeError`."""

    store: Store
    sites: SiteStore
    leases: LeaseRenewer
    documents: DocumentPort
    endings: Recorder
    queue: LinkQueue
    destinations: DestinationQueues
    """The queues of all indexes and other destinations of the source: their index processes."""


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """One crawl of one source, shared by its features and Scrapy components.

    Features act only through the ports: `queue` (links, redirect targets, retries), `documents` (additions to and
    removals from the index), `store` (URL records), `sites` (state of sites shared by the project), `run` (problems,
    ending the run) and `endings` (records outcomes of visits). All but `run` exist only once the crawl has begun.
    """

    project: Project
    source: DataSource
    rules: CompiledSource
    clock: Callable[[], float]
    """Returns the time in seconds since the epoch."""
    run: CrawlRun
    hooks: Hooks
    visits: dict[int, Visit] = field(default_factory=dict)
    """Visits in flight, by URL key."""
    ports: Ports = field(default_factory=Ports)

    def source_at(self, url: str) -> DataSource:
        """Return the source with the options in force at the site of a URL (`sites.overrides`)."""
        overlay = self.rules.overlay_of(url)
        return self.source if overlay is None else overlay.source

    def renders(self, url: str) -> bool:
        """Return whether scripts are run at the site of a URL."""
        return bool(self.source_at(url).javascript.use)

    @property
    def store(self) -> Store:
        """The state store of the source: URL records, runs, the stored queue."""
        return self.ports.store

    @property
    def sites(self) -> SiteStore:
        """The store of sites, shared by all sources of the project."""
        return self.ports.sites

    @property
    def leases(self) -> LeaseRenewer:
        """Renews leases while the crawl does not come to it."""
        return self.ports.leases

    @property
    def documents(self) -> DocumentPort:
        """Adds documents to the indexes and removes them."""
        return self.ports.documents

    @property
    def endings(self) -> Recorder:
        """Records the outcomes of visits."""
        return self.ports.endings

    @property
    def queue(self) -> LinkQueue:
        """The request queue."""
        return self.ports.queue

    def open_queue(self, queue: LinkQueue, *parts: object) -> None:
        """Set the port `queue`; called when the scheduler opens. Its parts have their hooks called after all others."""
        self.ports.queue = queue
        self.hooks.add(*parts)

    @property
    def report(self) -> RunReport:
        """A snapshot of the counts of the run."""
        return self.run.counters.as_report()

    @property
    def counters(self) -> RunCounters:
        """The live counters of the run."""
        return self.run.counters

    @property
    def mark(self) -> RunMark:
        """The run as stored."""
        return self.run.mark

    def flush(self) -> None:
        """Make documents and then records durable; in this order no record refers to a document that was lost."""
        self._prepare_flush()
        self.documents.writer.sync()
        self.store.flush()
        self._note_flushed()

    def begin_flush(self) -> None:
        """Begin to do so; both may be written beside the crawl, until `flush_ended` returns True."""
        self._prepare_flush()
        self.store.begin_flush(self.documents.writer.sync)

    def flush_ended(self) -> bool:
        """Whether a flush that was begun has ended. Raises `WorkError` if it failed."""
        if not self.store.flush_ended():
            return False
        self._note_flushed()
        return True

    def _prepare_flush(self) -> None:
        for prepare in self.hooks[Feature.before_flush]:
            prepare()

    def _note_flushed(self) -> None:
        for notify in self.hooks[Feature.after_flush]:
            notify()
