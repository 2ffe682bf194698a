"""Observers of visits: for the recrawl policy, and for looking at single pages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.content.mime import type_matches
from ultracrawl.model.dates import parse_http_date
from ultracrawl.rules.recrawl.adaptive import Observation
from ultracrawl.rules.recrawl.change import is_credible
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping, Sequence

    from ultracrawl.model.page import Link
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)


class VisitObserver(Feature):
    """Stores an observation for each visit that ended, if the content is known."""

    def __init__(self, context: CrawlContext) -> None:
        self._clock = context.clock
        self._visits = context.store.visits
        self._link_types = context.rules.reader.link_types

    def visit_ended(self, visit: Visit) -> None:
        """Mark a URL as seen in this cycle, and store whether its content changed since the last visit."""
        if visit.outcome is None:
            return  # a deferred visit is observed when its outcome is known
        key = visit.entry.key
        self._visits.note_seen((key,))
        unchanged = visit.outcome.unchanged
        if visit.sitemap is not None or not (unchanged or visit.checksum):
            return
        known, now = visit.record.checksum, self._clock()
        self._visits.note_visit(
            Observation(
                key,
                now,
                changed=not unchanged and bool(known) and known != visit.checksum,
                modified=self._modified(visit, now),
                markup=type_matches(visit.fetch.media_type, self._link_types)
                if visit.fetch.media_type
                else None,
            )
        )

    @staticmethod
    def _modified(visit: Visit, now: float) -> float | None:
        """Return the Last-Modified time of a response, 0 if it is not plausible; None if it was known before."""
        if (
            visit.outcome
            and visit.outcome.unchanged
            and visit.fetch.last_modified in ("", visit.record.last_modified)
        ):
            return None
        moment = parse_http_date(visit.fetch.last_modified) if visit.fetch.last_modified else None
        date = moment.timestamp() if moment else 0.0
        return min(date, now) if is_credible(date, now) else 0.0


class EndingLog(Feature):
    """Logs why a page that is looked at yields no document."""

    def visit_ended(self, visit: Visit) -> None:
        """Log the ending of a visit."""
        if visit.ending is not None:
            logger.info("No document from %s: %s", visit.url, visit.ending.cause or visit.ending.outcome)


class FoundLinks(Feature):
    """Collects the links of pages that are looked at."""

    def __init__(self) -> None:
        self._urls: dict[int, list[str]] = {}

    def links_resolved(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Add the links of a page that the source would follow."""
        admitted = set(inside)
        urls = self._urls.setdefault(visit.entry.key, [])
        urls += (url for url in located.values() if url_key(url) in admitted)

    def pop_links(self, visit: Visit) -> list[str]:
        """Return the links of a page, each once."""
        return list(dict.fromkeys(self._urls.pop(visit.entry.key, ())))
