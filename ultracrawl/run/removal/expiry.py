"""Expiry dates in descriptions: expired ones are renewed by a visit or removed from the index."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.model.dates import parse_http_date, parse_w3c_date
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.model.record_changes import without_validators
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

FIELD = "rd-expires"
"""The field of a description with its expiry date."""
_INDEXED = SUBMITTED | {UrlOutcome.PENDING}
_UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})


def expiry_of(rd: Mapping[str, Sequence[str]]) -> float:
    """Return when a description expires (epoch seconds), 0 if it has no date."""
    for text in rd.get(FIELD, ()):
        moment = parse_http_date(text) or parse_w3c_date(text)
        if moment is not None:
            return max(moment.timestamp(), 1.0)
    return 0.0


class ExpirySweeper(Feature):
    """Tracks the expiry dates of descriptions.

    The URL of an expired description is fetched in full, and the new description counts, changed or not. Descriptions
    that a complete run neither made nor confirmed are marked for removal at its end.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._due: dict[int, float] = {}

    def opened(self) -> None:
        """Load the descriptions that have expired."""
        self._due = self._context.store.documents.expired_documents(self._context.clock())

    def judge_visit(self, visit: Visit) -> None:
        """Have the page of an expired description read in full, even if it is unchanged."""
        if visit.entry.key in self._due:
            visit.rescan = True

    def note_description(self, visit: Visit, rd: Mapping[str, Sequence[str]]) -> None:
        """Note the expiry date of a new description in the visit."""
        ends = expiry_of(rd)
        renewed = visit.entry.key in self._due and ends > self._context.clock()
        visit.page = visit.page._replace(description_ends=ends, renewed=renewed)

    def visit_ended(self, visit: Visit) -> None:
        """Store the expiry date of a description that a visit made or confirmed."""
        key, at = visit.entry.key, visit.page.description_ends
        if (visit.outcome in _UNCHANGED and at) or (visit.outcome in _INDEXED and (at or key in self._due)):
            self._context.store.documents.put_expiry(key, at)

    def run_ending(self, *, complete: bool) -> None:
        """Mark the expired descriptions that this run did not renew."""
        if complete and not self._context.run.replay:
            self.cycle_ended()

    def cycle_ended(self) -> int:
        """Mark expired descriptions as leaving, and have duplicates fetched; returns how many."""
        context, swept = self._context, 0
        context.store.flush()
        for key, at in context.store.documents.expired_documents(context.clock()).items():
            record = context.store.records.get_record(key)
            in_index = record is not None and record.searchable and not record.removal
            if record is not None and in_index and self._was_confirmed(record):
                continue
            context.store.documents.put_expiry(key, 0.0)
            if record is not None and in_index:
                day = datetime.fromtimestamp(at, UTC).date().isoformat()
                # Without validators and checksum, a later visit describes the page again.
                removal = Removal(RemovalReason.EXPIRED, Cause(CauseCode.DAY_OVER, day))
                gone = replace(without_validators(record), removal=removal)
                context.documents.remove([gone])
                swept += 1
        if swept:
            logger.info("%s: %d descriptions have expired", context.source.name, swept)
        return swept

    def _was_confirmed(self, record: UrlRecord) -> bool:
        """Return whether this run made the description or found it unchanged."""
        good = record.outcome in _INDEXED or record.outcome in _UNCHANGED
        return good and record.last_fetched >= self._context.mark.started
