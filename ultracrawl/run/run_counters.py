"""The counters of a run, from which its report is made."""

from __future__ import annotations

import logging
from collections import Counter
from copy import copy
from typing import TYPE_CHECKING

from ultracrawl.model import RunReport, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.system.compiled_core import core_state

if TYPE_CHECKING:
    from ultracrawl.model import Page
    from ultracrawl.run.visit import Visit

PROBLEM_LOGGER = logging.getLogger(__name__)
"""The logger of problems alone, all of which the report has, too."""
MAX_NAMED = 10
"""Failed pages, and failing sites, that a report names; all pages are in the table of URLs."""
_UNCHANGED = {
    UrlOutcome.NOT_MODIFIED: StatusCode.NOT_MODIFIED,
    UrlOutcome.DUPLICATE: StatusCode.DUPLICATE_IGNORED,
}


class RunCounters:
    """The counts of one run; `RunReport` documents each of them. Counts change only by the methods below.

    Attributes have the names of the fields of `RunReport`.
    """

    def __init__(self, source: str, run_id: str = "", started: str = "", *, resumed: bool = False) -> None:
        self.source = source
        self.run_id = run_id
        self.started = started
        self.resumed = resumed
        self.finished = ""
        self.seconds = self.waited = 0.0
        self.scheduled = self.fetched = self.indexed = self.indexed_earlier = self.deleted = self.bytes = 0
        self.sitemaps = self.not_asked = self.orphans = self.excluded_later = self.lost = 0
        self.opened = self.parts = self.documents = 0
        self.dropped_values = 0
        self.without_text = 0
        self.outcomes = Counter[UrlOutcome]()
        self.outcomes_before = Counter[UrlOutcome]()
        self.status_codes = Counter[int]()
        self.rejected_by = Counter[str]()
        self.unrendered = Counter[str]()
        self.given_up = Counter[str]()
        self.cut = Counter[str]()
        self.cut_examples: dict[str, str] = {}
        self.failed_pages: dict[str, str] = {}
        self.problems: list[str] = []
        self.remarks: list[str] = []
        self.cause = ""
        self.ended_by = ""
        self.refresh_only = False
        self.left_out_by = ""
        self.interrupted = False
        self.core = core_state().value

    def as_report(self) -> RunReport:
        """Return a snapshot of the counts."""
        return RunReport(**{name: copy(value) for name, value in vars(self).items()})

    # ---- URLs

    def count_scheduled(self, number: int = 1) -> None:
        """Count URLs to visit in this run; negative for URLs that turn out to need no visit."""
        self.scheduled += number

    def count_fetched(self, waited: float) -> None:
        """Count a response to a request for a page that began after `waited` seconds."""
        self.fetched += 1
        self.waited += waited

    def note_before(self, outcomes: Counter[UrlOutcome]) -> None:
        """Set the outcomes of the URLs that earlier processes of a resumed run fetched."""
        self.outcomes_before = outcomes

    def reset_fetched(self) -> None:
        """Reset the count of responses: they came from the store."""
        self.fetched, self.waited = 0, 0.0

    def count_bytes(self, size: int) -> int:
        """Count the body of a response; returns the total number of bytes."""
        self.bytes += size
        return self.bytes

    def count_part(self) -> None:
        """Count a request of a page in the browser."""
        self.parts += 1

    def count_opened(self) -> None:
        """Count a page that is opened in the browser."""
        self.opened += 1

    def count_unrendered(self, fault: str) -> None:
        """Count a page that could not be read after its scripts."""
        self.unrendered[fault] += 1

    def count_ending(self, record: UrlRecord, *, lost: bool = False) -> None:
        """Count the outcome in a record; `lost`: nothing could be read this time, but something could before."""
        self.outcomes[record.outcome] += 1
        self.status_codes[record.status_code] += 1
        self.lost += lost
        if record.outcome is UrlOutcome.FAILED and len(self.failed_pages) < MAX_NAMED:
            self.failed_pages[record.url] = str(record.cause)

    def count_skipped_unchanged(self, record: UrlRecord) -> None:
        """Count a URL that was not requested because a sitemap says that it is unchanged."""
        self.count_ending(record)
        self.not_asked += 1

    def count_unchanged(self, outcomes: Counter[UrlOutcome]) -> None:
        """Count unchanged documents that a lister named: duplicates, or not modified."""
        self.count_scheduled(outcomes.total())
        self.not_asked += outcomes.total()
        for outcome, number in outcomes.items():
            self.outcomes[outcome] += number
            self.status_codes[_UNCHANGED[outcome]] += number

    def count_still_failed(self, record: UrlRecord) -> None:
        """Count a document that a lister named, and that could not be read before, nor is it tried again."""
        self.count_scheduled()
        self.count_skipped_unchanged(record)

    def change_outcome(self, before: UrlRecord, after: UrlRecord) -> None:
        """Correct the counts for a URL whose outcome changed after its visit."""
        self.outcomes.subtract({before.outcome: 1})
        self.status_codes.subtract({before.status_code: 1})
        self.outcomes += Counter({after.outcome: 1})
        self.status_codes += Counter({after.status_code: 1})

    def count_excluded(self, rule: str, number: int = 1) -> None:
        """Count URLs that a rule excludes."""
        self.rejected_by[rule] += number

    def count_excluded_later(self, rule: str) -> None:
        """Count a queued URL that a rule excludes afterwards; its outcome is counted separately."""
        self.rejected_by[rule] += 1
        self.excluded_later += 1

    def note_given_up(self, site: str, waiting: int) -> None:
        """Set the number of URLs of a given-up site that wait for the next run."""
        self.given_up[site] = waiting

    def count_sitemap(self) -> None:
        """Count a sitemap that was read or is unchanged."""
        self.sitemaps += 1

    # ---- documents

    def count_indexed(self, added: int, deleted: int, *, earlier: bool = False) -> None:
        """Count documents committed by the primary index; `earlier`: submitted by an earlier process."""
        self.indexed += added
        self.indexed_earlier += added if earlier else 0
        self.deleted += deleted

    def uncount_indexed(self) -> None:
        """Count a document no longer as indexed: what this run has added is replaced or taken out."""
        self.indexed -= 1

    def count_orphans(self, number: int) -> None:
        """Count orphans that are removed."""
        self.orphans += number

    def count_truncated(self, omitted: str, url: str) -> None:
        """Count a page that was read in part, by what was omitted."""
        self.cut[omitted] += 1
        self.cut_examples.setdefault(omitted, url)

    def note_truncation(self, visit: Visit, page: Page) -> None:
        """Record in visit and report what was left out of a page, if anything."""
        if page.truncated:
            visit.note_truncated(page.truncated)
            self.count_truncated(page.truncated, visit.url)

    def count_dropped_values(self, number: int) -> None:
        """Count attribute values that do not match the type of their search attribute."""
        self.dropped_values += number

    def count_without_text(self) -> None:
        """Count an indexed document that has no text."""
        self.without_text += 1

    # ---- the run

    def add_problem(self, problem: str) -> None:
        """Add a line about a failure that concerns more than one URL."""
        self.problems.append(problem)

    def note_problem(self, problem: str) -> None:
        """Log a line about a failure and add it, unless it is there; the crawl continues."""
        if problem not in self.problems:
            self.add_problem(problem)
            PROBLEM_LOGGER.error("%s", problem)

    def add_remark(self, remark: str) -> None:
        """Add a line about something that is no failure."""
        self.remarks.append(remark)

    def add_new_remark(self, remark: str) -> None:
        """Add a line about something that is no failure unless it is there."""
        if remark not in self.remarks:
            self.add_remark(remark)

    def note_no_document(self, cause: str) -> None:
        """Set the code why the source has no document with text."""
        self.cause = cause

    def note_limit(self, limit: str) -> None:
        """Set the limit that ends the run before its queue is empty."""
        self.ended_by = limit

    def note_refresh_only(self, limits: str) -> None:
        """Record that new URLs were excluded for a time, and at which limits."""
        self.refresh_only, self.left_out_by = True, limits

    def note_interruption(self) -> None:
        """Record that the run was stopped before its queue was empty."""
        self.interrupted = True

    def close(self, finished: str, seconds: float, documents: int) -> None:
        """Set the end time, the duration in seconds, and the documents of the source in the index."""
        self.finished, self.seconds, self.documents = finished, seconds, documents
