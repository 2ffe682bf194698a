"""Counts what happens in a run: told of events, read as a report."""

from __future__ import annotations

from collections import Counter
from copy import copy

from ultracrawl.model import RunReport, StatusCode, UrlOutcome, UrlRecord

_UNCHANGED = {
    UrlOutcome.NOT_MODIFIED: StatusCode.NOT_MODIFIED,
    UrlOutcome.DUPLICATE: StatusCode.DUPLICATE_IGNORED,
}


class RunCounters:
    """The counts of one run while it goes on; what each of them means stands in `RunReport`.

    Whoever causes an event tells of it by a method; nothing else changes a count.
    """

    def __init__(self, source: str, run_id: str = "", started: str = "", *, resumed: bool = False) -> None:
        self.source = source
        self.run_id = run_id
        self.started = started
        self.resumed = resumed
        self.finished = ""
        self.seconds = 0.0
        self.scheduled = self.fetched = self.indexed = self.indexed_earlier = self.deleted = self.bytes = 0
        self.sitemaps = self.not_asked = self.orphans = self.excluded_later = self.lost = 0
        self.dropped_values = 0
        self.outcomes = Counter[UrlOutcome]()
        self.status_codes = Counter[int]()
        self.rejected_by = Counter[str]()
        self.given_up = Counter[str]()
        self.cut = Counter[str]()
        self.problems: list[str] = []
        self.remarks: list[str] = []
        self.ended_by = ""
        self.refresh_only = False
        self.interrupted = False

    def as_report(self) -> RunReport:
        """Return the counts as they are now."""
        return RunReport(**{name: copy(value) for name, value in vars(self).items()})

    # ---- URLs

    def count_scheduled(self, number: int = 1) -> None:
        """Count URLs that are to end in this run; negative for those that turn out to have ended."""
        self.scheduled += number

    def count_fetched(self) -> None:
        """Count an answer to a request for a page."""
        self.fetched += 1

    def forget_fetched(self) -> None:
        """Count no answers: they came from the store."""
        self.fetched = 0

    def count_bytes(self, size: int) -> int:
        """Count the body of an answer; returns how many bytes there are by now."""
        self.bytes += size
        return self.bytes

    def count_ending(self, record: UrlRecord, *, lost: bool = False) -> None:
        """Count a URL that ended as its record says; `lost` if nothing was read of it, and something was before."""
        self.outcomes[record.outcome] += 1
        self.status_codes[record.status_code] += 1
        self.lost += lost

    def count_vouched(self, record: UrlRecord) -> None:
        """Count a URL that ended without being asked for, because a sitemap says that it has not changed."""
        self.count_ending(record)
        self.not_asked += 1

    def count_unchanged(self, outcomes: Counter[UrlOutcome]) -> None:
        """Count documents that a lister named, and that are as they were: copies of others, or not modified."""
        self.count_scheduled(outcomes.total())
        self.not_asked += outcomes.total()
        for outcome, number in outcomes.items():
            self.outcomes[outcome] += number
            self.status_codes[_UNCHANGED[outcome]] += number

    def change_ending(self, before: UrlRecord, after: UrlRecord) -> None:
        """Count a URL that had ended under what its end turned out to be."""
        self.outcomes.subtract({before.outcome: 1})
        self.status_codes.subtract({before.status_code: 1})
        self.outcomes += Counter({after.outcome: 1})
        self.status_codes += Counter({after.status_code: 1})

    def count_excluded(self, rule: str, number: int = 1) -> None:
        """Count URLs that a rule does not let in."""
        self.rejected_by[rule] += number

    def count_excluded_later(self, rule: str) -> None:
        """Count a URL that had been let in, and that a rule excludes after all; it has an outcome, too."""
        self.rejected_by[rule] += 1
        self.excluded_later += 1

    def note_given_up(self, site: str, waiting: int) -> None:
        """Note a site that was given up, and how many of its URLs wait for the next run."""
        self.given_up[site] = waiting

    def count_sitemap(self) -> None:
        """Count a sitemap that was read, or is as before."""
        self.sitemaps += 1

    # ---- documents

    def count_indexed(self, added: int, deleted: int, *, earlier: bool = False) -> None:
        """Count what the primary index committed; `earlier`, if an earlier process had handed it over."""
        self.indexed += added
        self.indexed_earlier += added if earlier else 0
        self.deleted += deleted

    def count_orphans(self, number: int) -> None:
        """Count documents that leave because nothing leads to them."""
        self.orphans += number

    def count_cut(self, what: str) -> None:
        """Count a page that was read in part, by what was left out."""
        self.cut[what] += 1

    def count_dropped_values(self, number: int) -> None:
        """Count attribute values that do not fit the type of their search attribute."""
        self.dropped_values += number

    # ---- the run

    def add_problem(self, problem: str) -> None:
        """Add a line about what failed besides single URLs."""
        self.problems.append(problem)

    def add_new_problem(self, problem: str) -> bool:
        """Add a line about what failed, unless it is there; returns whether it is new."""
        if problem in self.problems:
            return False
        self.add_problem(problem)
        return True

    def add_remark(self, remark: str) -> None:
        """Add a line about what happened besides, without being a failure."""
        self.remarks.append(remark)

    def note_limit(self, limit: str) -> None:
        """Note the limit that ends the run before everything was asked for."""
        self.ended_by = limit

    def note_new_urls_kept_out(self) -> None:
        """Note that new URLs were kept out for a while."""
        self.refresh_only = True

    def note_interruption(self) -> None:
        """Note that the run was stopped before its queue was empty."""
        self.interrupted = True

    def close(self, finished: str, seconds: float) -> None:
        """Note when the run ended, and how long it took."""
        self.finished, self.seconds = finished, seconds
