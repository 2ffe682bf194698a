"""Descriptions that name the day on which they expire: renewed by the visit after it, or taken out of the index."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ultracrawl.crawl.hooks import Feature
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.model.dates import parse_http_date, parse_w3c_date
from ultracrawl.model.record_changes import without_validators

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit

logger = logging.getLogger(__name__)

FIELD = "rd-expires"
"""The field of a description with its expiry date."""
_MADE = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.PENDING})
_KNOWN_AGAIN = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})


def expiry_of(rd: Mapping[str, Sequence[str]]) -> float:
    """Return when a description expires (seconds since the epoch), 0 if it does not say."""
    for text in rd.get(FIELD, ()):
        moment = parse_http_date(text) or parse_w3c_date(text)
        if moment is not None:
            return max(moment.timestamp(), 1.0)
    return 0.0


class ExpirySweeper(Feature):
    """Keeps the expiry dates of one crawl.

    A URL whose description has expired is fetched in full, and its new description counts, changed or not. One that
    was not made or found again by a whole run leaves the index at its end, by the step that takes out all others.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._due: dict[int, float] = {}

    def open(self) -> None:
        """Learn which descriptions have expired."""
        self._due = self._context.store.documents.expired_documents(self._context.clock())

    def judge_visit(self, visit: Visit) -> None:
        """Have an expired description be made anew, whatever the server says of the page."""
        if visit.entry.key in self._due:
            visit.rescan = True

    def note_description(self, visit: Visit, rd: Mapping[str, Sequence[str]]) -> None:
        """Take note of a description that was made."""
        ends = expiry_of(rd)
        renewed = visit.entry.key in self._due and ends > self._context.clock()
        visit.page = visit.page._replace(description_ends=ends, renewed=renewed)

    def visit_ended(self, visit: Visit) -> None:
        """Note when the description that a visit made or found again expires."""
        key, at = visit.entry.key, visit.page.description_ends
        if (visit.outcome in _KNOWN_AGAIN and at) or (visit.outcome in _MADE and (at or key in self._due)):
            self._context.store.documents.put_expiry(key, at)

    def run_ending(self, *, complete: bool) -> None:
        """Mark expired descriptions that nothing was asked for after they expired."""
        if complete and not self._context.run.replay:
            self.cycle_ended()

    def cycle_ended(self) -> int:
        """Mark expired descriptions as leaving, and have copies fetched; returns how many."""
        context, swept = self._context, 0
        context.store.flush()
        for key, at in context.store.documents.expired_documents(context.clock()).items():
            record = context.store.records.get_record(key)
            in_index = record is not None and record.searchable and not record.removal
            if record is not None and in_index and self._seen_well(record):
                continue
            context.store.documents.put_expiry(key, 0.0)
            if record is not None and in_index:
                day = datetime.fromtimestamp(at, UTC).date().isoformat()
                # Without validators and checksum a later visit makes the description anew.
                removal = Removal(RemovalReason.EXPIRED, Cause(CauseCode.DAY_OVER, day))
                gone = replace(without_validators(record), removal=removal)
                context.documents.remove([gone])
                swept += 1
        if swept:
            logger.info("%s: %d descriptions have expired", context.source.name, swept)
        return swept

    def _seen_well(self, record: UrlRecord) -> bool:
        """Whether this run made the description, or found it again."""
        good = record.outcome in _MADE or record.outcome in _KNOWN_AGAIN
        return good and record.last_fetched >= self._context.mark.started
