"""The Prometheus collector: reads gauges when it is scraped, and counts events of the supervisor."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from ultracrawl import __version__
from ultracrawl.model import ScheduleStatus
from ultracrawl.service.control import readable_status
from ultracrawl.service.metrics.holdings import HoldingsReader
from ultracrawl.service.metrics.indexes import IndexFactsReader
from ultracrawl.service.metrics.machine import free_bytes, resident_bytes
from ultracrawl.service.orders import CrawlEnd, Event, SourcePhase, Supervision
from ultracrawl.sources import Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.system.process_name import is_here


class Metrics(Collector):
    """The metrics of a service. `count_event` is told the events; the rest is read at each scrape."""

    def __init__(
        self,
        project: Callable[[], Project],
        supervisor: Supervision,
        holdings: HoldingsReader | None = None,
        indexes: IndexFactsReader | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._project = project
        self._supervisor = supervisor
        self._clock = clock
        self._holdings = holdings or HoldingsReader()
        self._indexes = indexes or IndexFactsReader()
        self._runs: Counter[tuple[str, str]] = Counter()
        self._pages: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[str] = Counter()
        self._events: Counter[str] = Counter()
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def exposition(self) -> tuple[bytes, str]:
        """Return all metrics as text, with its media type; reads files, so call it in a thread."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def count_event(self, event: Event) -> None:
        """Count an event."""
        self._events[event.kind.value] += 1
        if event.end is not None:
            self._count_end(event.end)

    def _count_end(self, end: CrawlEnd) -> None:
        self._runs[end.source, _result(end)] += 1
        if end.report is not None:
            for outcome, number in end.report.outcomes.items():
                self._pages[end.source, outcome.value] += number
            self._bytes[end.source] += end.report.bytes

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the metrics depend on the project."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        project = self._project()
        yield InfoMetricFamily("ultracrawl", "The version of the program", {"version": __version__})
        yield from self._counters()
        yield from self._live()
        yield from self._held(project)
        yield from self._schedules()
        yield from _of_indexes(project, self._indexes)
        yield from _of_machine(project)

    def _counters(self) -> Iterator[Metric]:
        runs = CounterMetricFamily(
            "ultracrawl_runs", "Runs that ended since the service started", labels=["source", "result"]
        )
        pages = CounterMetricFamily(
            "ultracrawl_pages",
            "URLs by how their visits ended, in runs that ended since the service started",
            labels=["source", "outcome"],
        )
        read = CounterMetricFamily(
            "ultracrawl_read_bytes",
            "Bytes read in runs that ended since the service started",
            labels=["source"],
        )
        events = CounterMetricFamily(
            "ultracrawl_events", "Events since the service started, by kind", labels=["kind"]
        )
        for (source, what), number in self._runs.items():
            runs.add_metric([source, what], number)
        for (source, outcome), number in self._pages.items():
            pages.add_metric([source, outcome], number)
        for source, number in self._bytes.items():
            read.add_metric([source], number)
        for kind, number in self._events.items():
            events.add_metric([kind], number)
        yield from (runs, pages, read, events)

    def _live(self) -> Iterator[Metric]:
        phases = GaugeMetricFamily(
            "ultracrawl_source_phase",
            "1 for the current phase of a source, else 0",
            labels=["source", "phase"],
        )
        live = GaugeMetricFamily(
            "ultracrawl_run_urls", "Counters of the current run", labels=["source", "count"]
        )
        following = GaugeMetricFamily(
            "ultracrawl_source_next_run_timestamp_seconds",
            "Time at which the next run is due",
            labels=["source"],
        )
        for state in self._supervisor.sources():
            for phase in SourcePhase:
                phases.add_metric([state.name, phase.value], float(phase is state.phase))
            for name, number in state.live.items():
                live.add_metric([state.name, name], number)
            if state.next_run is not None:
                following.add_metric([state.name], state.next_run)
        yield from (phases, live, following)

    def _held(self, project: Project) -> Iterator[Metric]:
        urls = GaugeMetricFamily("ultracrawl_source_urls", "Known URLs by state", labels=["source", "state"])
        outcomes = GaugeMetricFamily(
            "ultracrawl_source_outcomes", "Known URLs by their latest outcome", labels=["source", "outcome"]
        )
        at = GaugeMetricFamily(
            "ultracrawl_source_last_success_timestamp_seconds",
            "Time at which the last successful run ended",
            labels=["source"],
        )
        age = GaugeMetricFamily(
            "ultracrawl_source_last_success_age_seconds",
            "Seconds since the last successful run ended",
            labels=["source"],
        )
        readable = GaugeMetricFamily(
            "ultracrawl_source_state_readable",
            "1 if the state of a source can be read, 0 if it is damaged",
            labels=["source"],
        )
        for name in project.known_sources:
            held = self._holdings.holdings_of(project, name)
            readable.add_metric([name], float(not held.problem))
            for state, number in held.numbers.items() if held.counts is not None else ():
                urls.add_metric([name, state], number)
            for outcome, number in held.outcomes.items():
                outcomes.add_metric([name, outcome], number)
            if held.last_success is not None:
                at.add_metric([name], held.last_success)
                age.add_metric([name], max(0.0, self._clock() - held.last_success))
        yield from (urls, outcomes, at, age, readable)

    def _schedules(self) -> Iterator[Metric]:
        statuses = GaugeMetricFamily(
            "ultracrawl_schedule_status",
            "1 for the current status of a schedule, else 0",
            labels=["schedule", "status"],
        )
        for one in self._supervisor.schedules():
            for status in ScheduleStatus:
                statuses.add_metric([one.name, status.value], float(status is one.status))
        yield statuses


def _result(end: CrawlEnd) -> str:
    if end.died:
        return "died"
    if end.report.interrupted if end.report is not None else end.error:
        return "stopped"
    return "failed" if end.failed else "done"


def _of_indexes(project: Project, reader: IndexFactsReader) -> Iterator[Metric]:
    documents = GaugeMetricFamily("ultracrawl_index_documents", "Documents in an index", labels=["index"])
    deleted = GaugeMetricFamily(
        "ultracrawl_index_deleted_documents",
        "Deleted documents whose space is not freed yet",
        labels=["index"],
    )
    segments = GaugeMetricFamily("ultracrawl_index_segments", "Segments of an index", labels=["index"])
    size = GaugeMetricFamily("ultracrawl_index_size_bytes", "Size of an index on disk", labels=["index"])
    readable = GaugeMetricFamily(
        "ultracrawl_index_readable", "1 if an index can be read, else 0", labels=["index"]
    )
    for name in (PROJECT_INDEX, *project.indexes):
        facts = reader.facts_of(project, name)
        readable.add_metric([name], float(not isinstance(facts, str)))
        if not isinstance(facts, str):
            documents.add_metric([name], facts.documents)
            deleted.add_metric([name], facts.deleted)
            segments.add_metric([name], facts.segments)
            size.add_metric([name], facts.size)
    yield from (documents, deleted, segments, size, readable)


def _of_machine(project: Project) -> Iterator[Metric]:
    memory = GaugeMetricFamily(
        "ultracrawl_process_resident_memory_bytes",
        "Memory of the service (`source` is empty) and of the crawl of each source",
        labels=["source"],
    )
    disk = GaugeMetricFamily(
        "ultracrawl_disk_free_bytes", "Free space on the disk of a folder", labels=["place"]
    )
    memory.add_metric([""], resident_bytes(os.getpid()))
    for name in project.known_sources:
        status = readable_status(project, name)
        if status is not None and status.pid and is_here(status.machine):
            memory.add_metric([name], resident_bytes(status.pid))
    for place, path in (("state", project.state.path), ("index", project.index.path)):
        disk.add_metric([place], free_bytes(path))
    yield from (memory, disk)
