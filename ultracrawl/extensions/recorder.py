"""Gives every visit its one outcome, writes it to the document table and counts it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ultracrawl.extensions.display_urls import DisplayUrls
from ultracrawl.extensions.feed import IndexFeed
from ultracrawl.extensions.visit import Visit
from ultracrawl.model import RunReport, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.state import QueueEntry, StateStore

HANDED = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED})
UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})
SITEMAP_LASTMOD = "sitemap lastmod"
"""The reason of pages that are not asked for, because a sitemap says that they have not changed."""
EXPIRES = "it names the day on which it leaves the index"
"""The reason of pages that have to be looked at in every run."""


class Recorder:
    """The one place where a visit ends.

    What an outcome does to the record: a transient one (network or server error) leaves everything known as it
    is; an unchanged page keeps its document and its links; all others except NEW and MODIFIED take the document
    out of the index, if there is one.
    """

    def __init__(
        self, state: StateStore, feed: IndexFeed, report: RunReport, clock: Callable[[], float]
    ) -> None:
        self._state = state
        self._feed = feed
        self._report = report
        self._clock = clock
        self.names: DisplayUrls | None = None
        """Told how visits end, so that a URL that redirects no more gets its name back."""
        self.on_finish: list[Callable[[Visit], None]] = []
        """Called with each visit that reached its outcome."""

    def finish(self, visit: Visit, outcome: UrlOutcome, status: int = 0, reason: str = "") -> None:
        """End a visit; a visit that already ended is left as it is."""
        if visit.done:
            return
        visit.done = True
        if visit.tentative:
            self._tell(visit)
            return
        visit.outcome = outcome
        reason = reason or (EXPIRES if visit.expires else "")
        record = self._next_record(visit, outcome, status or visit.status, reason)
        if self._leaves_index(visit.record, outcome):
            self._feed.delete(visit.entry.key, visit.record.shown_url)
            record = replace(record, indexed=False, handed=False)
        if self.names is not None:
            self.names.ended(visit, outcome)
        self._state.finish(visit.entry, record)
        self._report.outcomes[outcome] += 1
        self._report.status_codes[record.status_code] += 1
        self._tell(visit)

    def _tell(self, visit: Visit) -> None:
        for callback in self.on_finish:
            callback(visit)

    def not_asked(self, entry: QueueEntry, known: UrlRecord) -> None:
        """End a URL that is not asked for in this run, because a sitemap says that it is as it was.

        `last_fetched` stays: a later date in a sitemap is compared with the fetch, not with this run.
        """
        record = replace(
            known,
            outcome=UrlOutcome.NOT_MODIFIED,
            status_code=StatusCode.NOT_MODIFIED,
            reason=SITEMAP_LASTMOD,
        )
        self._state.finish(entry, record)
        self._report.outcomes[record.outcome] += 1
        self._report.status_codes[record.status_code] += 1
        self._report.not_asked += 1

    def skip(self, entry: QueueEntry, rule: str) -> None:
        """End a URL that is not asked for in this run, and whose document, if there is one, stays as it is."""
        known = self._state.get(entry.key) or UrlRecord(entry.url, self._report.source, entry.depth)
        record = replace(known, outcome=UrlOutcome.REJECTED, status_code=StatusCode.NOT_CRAWLED, reason=rule)
        self._state.finish(entry, record)
        self._report.outcomes[record.outcome] += 1
        self._report.status_codes[record.status_code] += 1
        self._report.rejected_by[rule] += 1

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Take note that the end of a visit of this run turned out to be another one."""
        self._report.outcomes.subtract({before.outcome: 1})
        self._report.status_codes.subtract({before.status_code: 1})
        self._report.outcomes += Counter({after.outcome: 1})
        self._report.status_codes += Counter({after.status_code: 1})

    @staticmethod
    def _leaves_index(known: UrlRecord, outcome: UrlOutcome) -> bool:
        stays = outcome.transient or outcome in HANDED or outcome in UNCHANGED
        return not stays and (known.indexed or known.handed)

    def _next_record(self, visit: Visit, outcome: UrlOutcome, status: int, reason: str) -> UrlRecord:
        known = visit.record
        record = replace(
            known,
            depth=visit.entry.depth,
            display_url=visit.entry.display_url,
            status_code=status,
            outcome=outcome,
            reason=reason,
            last_fetched=visit.record.last_fetched if visit.stored else self._clock(),
        )
        if outcome.transient:
            return replace(record, failures=known.failures + 1)
        if outcome in UNCHANGED or status == StatusCode.DUPLICATE_IGNORED:
            return replace(
                record,
                failures=0,
                etag=visit.etag or known.etag,
                last_modified=visit.last_modified or known.last_modified,
                links=visit.links or known.links,
            )
        if outcome is UrlOutcome.GONE:
            gone = known.failures + 1 if known.outcome is UrlOutcome.GONE else 1
            return replace(
                record, failures=gone, etag="", last_modified="", checksum=b"", links=b"", fingerprint=b""
            )
        if status == StatusCode.NOT_UNIQUE:
            # Without validators it is looked at again: the other document may be gone by then.
            return replace(
                record,
                failures=0,
                etag="",
                last_modified="",
                checksum=b"",
                links=visit.links,
                fingerprint=b"",
            )
        return replace(
            record,
            failures=0,
            etag=visit.etag,
            last_modified=visit.last_modified,
            checksum=visit.checksum,
            links=visit.links,
            handed=outcome in HANDED,
            indexed=known.indexed and outcome not in HANDED,
            fingerprint=visit.fingerprint if outcome in HANDED or outcome is UrlOutcome.DUPLICATE else b"",
            preference=visit.preference,
        )
