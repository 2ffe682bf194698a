"""One crawl of one source, as numbers that add up; and the status of a schedule of crawls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ultracrawl.model.finding import DefinitionError
from ultracrawl.model.outcome import UrlOutcome
from ultracrawl.model.statistics import CrawlStatistics


class ScheduleStatus(StrEnum):
    """What a schedule is doing (Ultra Search 13.2); its values are stored, and no version changes them."""

    SCHEDULED = "scheduled"
    """It waits for its next time."""
    LAUNCHING = "launching"
    """Its crawls were ordered, and none has begun."""
    EXECUTING = "executing"
    INDEXING_PENDING = "indexing pending"
    """It crawled in the mode `examine`, and documents wait for approval."""
    STOPPED = "stopped"
    """It was ended by a person; `resume` has it go on."""
    FAILED = "failed"
    """All its sources failed; it is tried again at its next time."""
    PARTIALLY_FAILED = "partially failed"
    DISABLED = "disabled"
    """It is not launched."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The counts of one run; `scheduled` equals the sums of `outcomes` and `given_up` when it ended normally."""

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
    """Documents among `indexed` that an earlier process had read, so that they are no URLs of this run."""
    deleted: int = 0
    bytes: int = 0
    sitemaps: int = 0
    """Sitemaps that were read, or found unchanged."""
    not_asked: int = 0
    """URLs that were not asked for, because a sitemap says that they have not changed."""
    orphans: int = 0
    """Documents that were deleted without being asked for, because nothing had led to them for several cycles."""
    outcomes: Counter[UrlOutcome] = field(default_factory=Counter)
    status_codes: Counter[int] = field(default_factory=Counter)
    rejected_by: Counter[str] = field(default_factory=Counter)
    excluded_later: int = 0
    """URLs that were accepted and excluded later; they have an outcome, and count in `rejected_by` too."""
    given_up: Counter[str] = field(default_factory=Counter)
    """Sites that were given up after network errors, with the number of their URLs that wait for the next run."""
    lost: int = 0
    """URLs of which nothing was read, unless they failed at the visit before, too."""
    cut: Counter[str] = field(default_factory=Counter)
    """Pages that were read in part, by what was left out."""
    dropped_values: int = 0
    """Attribute values that could not be converted to the type of their search attribute."""
    problems: list[str] = field(default_factory=list)
    """One line each: what failed in this run besides single URLs (index process died, disk full)."""
    remarks: list[str] = field(default_factory=list)
    """One line each: what happened besides, without being a failure (the index was brought up to date)."""
    resumed: bool = False
    ended_by: str = ""
    """What ended the run before everything was asked for: a limit, or a reason for which Scrapy closes spiders."""
    refresh_only: bool = False
    """New URLs were kept out for a while, because the source or the disk was too full."""
    interrupted: bool = False
    """Stopped by the user before the queue was empty; the next run goes on."""

    @classmethod
    def not_begun(cls, source: str, error: Exception) -> RunReport:
        """Return the report of a source that could not be crawled at all."""
        findings = error.findings if isinstance(error, DefinitionError) else (error,)
        return cls(source, "", "", problems=[str(one) for one in findings])

    @property
    def begun(self) -> bool:
        """Whether there was a run."""
        return bool(self.run_id)

    @property
    def queued(self) -> int:
        """URLs that were scheduled in this run and have no outcome yet."""
        return self.scheduled - self.outcomes.total()

    @property
    def statistics(self) -> CrawlStatistics:
        """The few numbers that a log ends with."""
        return CrawlStatistics.count(
            self.outcomes,
            self.status_codes,
            to_fetch=self.queued,
            links_excluded=self.rejected_by.total() - self.excluded_later,
            indexed=self.indexed,
        )

    @property
    def reached_nothing(self) -> bool:
        """Whether URLs were asked for and nothing was read; a document that left the index counts as a result."""
        asked = +self.outcomes or +self.given_up
        return bool(asked) and not self.deleted and all(one.in_vain for one in +self.outcomes)

    @property
    def failed(self) -> bool:
        """Whether the run did not do what it was asked for, apart from single URLs."""
        return bool(self.problems) or self.interrupted

    def summary(self) -> str:
        """Return the numbers of the run in one line."""
        return (
            f"{self.scheduled} URLs, {self.fetched} fetched, {self.indexed} indexed, {self.deleted} deleted, "
            f"{self.seconds:.1f} s"
        )

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
            "bytes": self.bytes,
            "sitemaps": self.sitemaps,
            "not_asked": self.not_asked,
            "orphans": self.orphans,
            "outcomes": {outcome.value: n for outcome, n in sorted(self.outcomes.items())},
            "status_codes": {str(code): n for code, n in sorted(self.status_codes.items())},
            "rejected_by": dict(self.rejected_by.most_common()),
            "statistics": dict(self.statistics.items()),
            "scheduled": self.scheduled,
            "given_up": dict(self.given_up),
            "cut": dict(self.cut.most_common()),
            "dropped_values": self.dropped_values,
            "resumed": self.resumed,
            "ended_by": self.ended_by or None,
            "refresh_only": self.refresh_only,
            "interrupted": self.interrupted,
            "problems": list(self.problems),
            "remarks": list(self.remarks),
        }
