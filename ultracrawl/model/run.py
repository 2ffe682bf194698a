"""The report of one crawl of one source with its summary numbers (Ultra Search 3.2), and the status of a schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from ultracrawl.dataclass import dataclass, field, fields
from ultracrawl.model.finding import DefinitionError
from ultracrawl.model.outcome import UrlOutcome
from ultracrawl.model.status import StatusCode
from ultracrawl.system.nouns import counted

_FAILURES = (UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.GONE)
_WRONG_TYPE = (StatusCode.WRONG_TYPE, StatusCode.BINARY_AS_TEXT)
_CONVERSION = (StatusCode.CONVERSION_FAILED, StatusCode.CONVERTER_MISSING)
HELD_PROBLEMS = "held_problems"
"""Key of a stored report: the problems that say what the guards held back, about which a person decides."""


@dataclass(frozen=True, slots=True)
class CrawlStatistics:
    """Counts of URLs; each URL or excluded link counts in exactly one of the first four."""

    to_fetch: int
    """Still queued when the run ended."""
    fetched: int
    """Answered with a document, a redirect, or 304 (not modified)."""
    failures: int
    """Not fetched: no connection, time-out, server error, no permission, not found."""
    rejected: int
    """Excluded by the boundary, robots.txt, the media type, the depth, the rewriter or a limit."""
    indexed: int
    """Indexed by this run, or waiting for approval."""
    not_indexable: int
    """Fetched but not indexed because of a directive or their size, or because only their links are used."""
    conversion_failures: int
    """Fetched but not converted."""

    @property
    def discovered(self) -> int:
        """The sum of the first four counts."""
        return self.to_fetch + self.fetched + self.failures + self.rejected

    @classmethod
    def count(
        cls,
        outcomes: Counter[UrlOutcome],
        codes: Counter[int],
        *,
        to_fetch: int,
        links_excluded: int,
        indexed: int,
    ) -> CrawlStatistics:
        """Derive the numbers from the counts of a run; `links_excluded` counts links that were never queued."""
        failures = sum(outcomes[outcome] for outcome in _FAILURES)
        wrong_type = sum(codes[code] for code in _WRONG_TYPE)
        rejected = outcomes[UrlOutcome.ROBOTS] + outcomes[UrlOutcome.REJECTED] + wrong_type
        unconverted = sum(codes[code] for code in _CONVERSION)
        return cls(
            to_fetch=max(to_fetch, 0),
            fetched=outcomes.total() - failures - rejected,
            failures=failures,
            rejected=rejected + links_excluded,
            indexed=indexed + outcomes[UrlOutcome.PENDING],
            not_indexable=max(outcomes[UrlOutcome.NOT_INDEXED] - wrong_type - unconverted, 0),
            conversion_failures=unconverted,
        )

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield (name, count) pairs in the order of the log."""
        for position, number in enumerate(fields(self)):
            if position == 4:
                yield "discovered", self.discovered
            yield number.name, getattr(self, number.name)


class ScheduleStatus(StrEnum):
    """The state of a schedule (Ultra Search 13.2); the values are stored and never change."""

    SCHEDULED = "scheduled"
    """Waits for its next start time."""
    LAUNCHING = "launching"
    """Its crawls were requested, and none has begun."""
    EXECUTING = "executing"
    INDEXING_PENDING = "indexing pending"
    """It crawled in the mode `examine`, and documents wait for approval."""
    STOPPED = "stopped"
    """A person stopped it; `resume` continues it."""
    FAILED = "failed"
    """All its sources failed; it is tried again at its next start time."""
    PARTIALLY_FAILED = "partially failed"
    DISABLED = "disabled"
    """It is not launched."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The counts of one run; after a normal end `scheduled` is the sum of `outcomes` and `given_up`."""

    source: str
    run_id: str
    started: str
    """ISO 8601, UTC."""
    finished: str = ""
    seconds: float = 0.0
    scheduled: int = 0
    fetched: int = 0
    indexed: int = 0
    indexed_earlier: int = 0
    """Documents among `indexed` that an earlier process fetched; they are not URLs of this run."""
    deleted: int = 0
    documents: int = 0
    """Documents of the source in the index at the end."""
    bytes: int = 0
    waited: float = 0.0
    """Seconds until the answers began that `fetched` counts, all together."""
    opened: int = 0
    """Pages that were opened in the browser."""
    parts: int = 0
    """Requests of these pages."""
    unrendered: Counter[str] = field(default_factory=Counter)
    """Pages that could not be read after their scripts, by `run.rendering.not_rendered.NotRendered`."""
    sitemaps: int = 0
    """Sitemaps read or found unchanged."""
    not_asked: int = 0
    """URLs not requested because a sitemap says that they have not changed."""
    orphans: int = 0
    """Documents deleted without a request because nothing had linked to them for several cycles."""
    outcomes: Counter[UrlOutcome] = field(default_factory=Counter)
    outcomes_before: Counter[UrlOutcome] = field(default_factory=Counter)
    """Outcomes of the URLs that a resumed run fetched before it was interrupted; all other counts are without them."""
    status_codes: Counter[int] = field(default_factory=Counter)
    rejected_by: Counter[str] = field(default_factory=Counter)
    excluded_later: int = 0
    """URLs accepted first and excluded later; they have an outcome and count in `rejected_by` too."""
    given_up: Counter[str] = field(default_factory=Counter)
    """Sites given up after network errors, with the number of their URLs that wait for the next run."""
    lost: int = 0
    """URLs of which no content was read, although the visit before read some."""
    cut: Counter[str] = field(default_factory=Counter)
    """Pages read in part, by the part left out."""
    cut_examples: dict[str, str] = field(default_factory=dict)
    """The first page read in part, by the part left out."""
    failed_pages: dict[str, str] = field(default_factory=dict)
    """The first pages that could not be processed, with the reason: those of the outcome FAILED."""
    dropped_values: int = 0
    """Attribute values that could not be converted to the type of their search attribute."""
    without_text: int = 0
    """Indexed documents of formats such as PDF that have no text, perhaps because they are scanned images."""
    problems: list[str] = field(default_factory=list)
    """One line each: failures of the run apart from single URLs (index process died, disk full)."""
    remarks: list[str] = field(default_factory=list)
    """One line each: events that are not failures (the index was brought up to date)."""
    cause: str = ""
    """The code (`CauseCode`) why the source has no document with text; empty if it has one, or need not."""
    resumed: bool = False
    ended_by: str = ""
    """What ended the run before the queue was empty: a limit, or the reason for which Scrapy closed the spider."""
    refresh_only: bool = False
    """New URLs were not accepted for a while, because the source or the disk was too full."""
    left_out_by: str = ""
    """The limits at which new URLs were not accepted, with their numbers."""
    core: str = ""
    """Whether the index is written by its compiled core, and why not (`system.compiled_core.CoreState`)."""
    interrupted: bool = False
    """Stopped by the user before the queue was empty; the next run continues it."""

    @classmethod
    def not_begun(cls, source: str, error: Exception) -> RunReport:
        """Return the report of a source whose crawl could not be started."""
        findings = error.findings if isinstance(error, DefinitionError) else (error,)
        return cls(source, "", "", problems=[str(finding) for finding in findings])

    @property
    def begun(self) -> bool:
        """Whether the run was started."""
        return bool(self.run_id)

    @property
    def queued(self) -> int:
        """URLs scheduled in this run that have no outcome yet."""
        return self.scheduled - self.outcomes.total()

    @property
    def statistics(self) -> CrawlStatistics:
        """The summary numbers that a log ends with."""
        return CrawlStatistics.count(
            self.outcomes,
            self.status_codes,
            to_fetch=self.queued,
            links_excluded=self.rejected_by.total() - self.excluded_later,
            indexed=self.indexed,
        )

    @property
    def reached_nothing(self) -> bool:
        """Whether URLs were requested, but no content was read and no document was deleted.

        What a resumed run did before it was interrupted counts: only pages that fail may have been left to it.
        """
        requested = +self.outcomes or +self.given_up
        outcomes = self.outcomes + self.outcomes_before
        return bool(requested) and not self.deleted and all(outcome.without_content for outcome in outcomes)

    @property
    def failed(self) -> bool:
        """Whether the run had problems or was interrupted; failures of single URLs do not count."""
        return bool(self.problems) or self.interrupted

    def summary(self) -> str:
        """Return the numbers of the run in one line."""
        return (
            f"{counted(self.scheduled, 'URL')}, {self.fetched} fetched, {self.indexed} indexed, "
            f"{self.deleted} deleted, {self.seconds:.1f} s"
        )

    @property
    def _javascript(self) -> dict[str, Any]:
        unrendered = dict(self.unrendered.most_common())
        return {"opened": self.opened, "parts": self.parts, "unrendered": unrendered}

    def as_json(self) -> dict[str, Any]:
        """Return the report in the shape of `ultracrawl crawl --json`."""
        return {
            "source": self.source,
            "run_id": self.run_id or None,
            "started": self.started or None,
            "finished": self.finished or None,
            "seconds": round(self.seconds, 3),
            "fetched": self.fetched,
            "indexed": self.indexed,
            "indexed_earlier": self.indexed_earlier,
            "deleted": self.deleted,
            "documents": self.documents,
            "bytes": self.bytes,
            "answer_seconds": round(self.waited / self.fetched, 4) if self.fetched else None,
            "sitemaps": self.sitemaps,
            "not_asked": self.not_asked,
            "orphans": self.orphans,
            "outcomes": {outcome.value: n for outcome, n in sorted(self.outcomes.items())},
            "outcomes_before": {outcome.value: n for outcome, n in sorted(self.outcomes_before.items())},
            "status_codes": {str(code): n for code, n in sorted(self.status_codes.items())},
            "rejected_by": dict(self.rejected_by.most_common()),
            "statistics": dict(self.statistics.items()),
            "scheduled": self.scheduled,
            "given_up": dict(self.given_up),
            "cut": dict(self.cut.most_common()),
            "cut_examples": dict(self.cut_examples),
            "failed_pages": dict(self.failed_pages),
            "dropped_values": self.dropped_values,
            "without_text": self.without_text,
            "resumed": self.resumed,
            "ended_by": self.ended_by or None,
            "refresh_only": self.refresh_only,
            "left_out_by": self.left_out_by or None,
            "core": self.core,
            "interrupted": self.interrupted,
            "cause": self.cause or None,
            "problems": list(self.problems),
            "remarks": list(self.remarks),
            **({"javascript": self._javascript} if self.opened or self.parts or self.unrendered else {}),
        }
