"""A document is indexed once, however many URLs of its source have it (Ultra Search 6.3, FAST 5.1 H)."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.boundary.tables import compiled
from ultracrawl.duplicates import Rank, preference, rank, rank_of
from ultracrawl.extensions.recorder import HANDED
from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.urls import url_key

if TYPE_CHECKING:
    from ultracrawl.extensions.session import CrawlSession
    from ultracrawl.extensions.visit import Visit
    from ultracrawl.model import Page

logger = logging.getLogger(__name__)


class Duplicates:
    """Asked before a page is followed and again before it is indexed, told how visits end.

    Records with equal fingerprints are one document. Of them the one with the lowest rank is in the index, its
    holder; a better one that is met later takes the place of a worse one at once. When a holder leaves, or changes,
    the best of the remembered others is fetched in the same run and takes its place.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._options = session.source.duplicates
        self._prints = session.rules.fingerprints
        self._seeds = frozenset(session.rules.seeds)
        always = self._options.always_listed
        self._always_listed = compiled(always) if always else None
        self._since = session.clock()
        self._open: dict[int, bytes] = {}
        """Fingerprints of visits that are to be indexed and have not ended, by key."""
        self._number_open: Counter[bytes] = Counter()
        self._contested: set[bytes] = set()
        """Fingerprints of which more than one visit was open, or a worse document is in the index."""

    # ---- before a document is indexed

    def find(self, visit: Visit, page: Page, body: bytes) -> UrlRecord | None:
        """Return the document that has the content of this page and stays in the index for it, or None.

        Notes in the visit by what it is compared; called once for each page that would be indexed.
        """
        if self._prints is None:
            return None
        visit.preference = self._preference(visit, page)
        visit.fingerprint = self._prints.of(page, body)
        others = self._others(visit)
        if not others and self._prints.near:
            others = self._near(visit, self._prints.near_of(page))
        holder = self._best(others)
        if holder is not None and rank_of(holder, self._seeds) < self._rank(visit):
            return holder
        self._enter(visit, contested=any(map(_is_current, others)))
        return None

    def _preference(self, visit: Visit, page: Page) -> int:
        if not (page.canonical and self._options.canonical):
            return preference(visit.url, "")
        policy = self._session.rules.url_policy
        return preference(visit.url, policy.canonical(page.canonical, page.base or visit.url) or "")

    def _near(self, visit: Visit, simhash: int | None) -> list[UrlRecord]:
        """Return the documents with a text near this one; the visit is compared by their fingerprint then."""
        if simhash is None:
            return []
        near = self._session.state.near
        found = near.find(simhash, self._options.near_distance)
        if found is None:
            near.put(visit.fingerprint, simhash)
            return []
        visit.fingerprint = found
        return self._others(visit)

    def _enter(self, visit: Visit, *, contested: bool) -> None:
        self._leave(visit)
        self._open[visit.entry.key] = visit.fingerprint
        self._number_open[visit.fingerprint] += 1
        if contested or self._number_open[visit.fingerprint] > 1:
            self._contested.add(visit.fingerprint)

    def find_again(self, visit: Visit) -> UrlRecord | None:
        """Return the same as `find`, for a page that was on its way while others of its content were, too."""
        if visit.fingerprint not in self._contested:
            return None
        holder = self._best(self._others(visit))
        if holder is not None and rank_of(holder, self._seeds) < self._rank(visit):
            return holder
        return None

    def _others(self, visit: Visit) -> list[UrlRecord]:
        same = self._session.state.same_content(visit.fingerprint)
        return [record for record in same if record.url != visit.url]

    def _best(self, records: list[UrlRecord]) -> UrlRecord | None:
        """Return the best of those that are in the index; a worse one may be there until a commit is confirmed."""
        return min((one for one in records if one.searchable), key=self._rank_of, default=None)

    def _rank_of(self, record: UrlRecord) -> Rank:
        return rank_of(record, self._seeds)

    def _rank(self, visit: Visit) -> Rank:
        return rank(visit.url, visit.preference, self._seeds)

    # ---- duplicates

    def refuse(self, visit: Visit, holder: UrlRecord) -> None:
        """End a visit whose content another document has (909)."""
        if not self._is_listed(visit.url, self._others(visit)):
            # Without validators it is looked at again in the next run, and is not forgotten for good.
            visit.fingerprint = b""
            visit.etag = visit.last_modified = ""
        logger.info("30083 duplicate document ignored: %s has the content of %s", visit.url, holder.url)
        self._session.recorder.finish(
            visit, UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_DETECTED, _reason(holder)
        )

    def _is_listed(self, url: str, others: list[UrlRecord]) -> bool:
        """Return whether a duplicate is remembered, `others` being those of the same content."""
        remembered = sum(not one.searchable and one.url != url for one in others)
        if remembered < self._options.listed:
            return True
        return self._always_listed is not None and self._always_listed.fullmatch(url) is not None

    def stays(self, visit: Visit) -> bool:
        """End the visit of an unchanged page (304) that is known as a duplicate (910); False for other pages."""
        record = visit.record
        if not record.fingerprint or record.searchable:
            return False
        holder = self._best(self._others_of(record))
        reason = _reason(holder) if holder is not None else record.reason
        self._session.recorder.finish(visit, UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_IGNORED, reason)
        return True

    def _others_of(self, record: UrlRecord) -> list[UrlRecord]:
        same = self._session.state.same_content(record.fingerprint)
        return [one for one in same if one.url != record.url]

    # ---- one takes the place of another

    def displace(self, visit: Visit) -> None:
        """Take worse documents of the same content out of the index; called when this one is handed over."""
        if visit.fingerprint not in self._contested:
            return
        for record in self._others(visit):
            if _is_current(record):
                self._demote(record, visit)

    def _demote(self, record: UrlRecord, winner: Visit) -> None:
        session = self._session
        key = url_key(record.url)
        if record.searchable:
            session.feed.delete(key, record.shown_url)
        logger.info("30083 duplicate document ignored: %s has the content of %s", record.url, winner.url)
        demoted = replace(
            record,
            outcome=UrlOutcome.DUPLICATE,
            status_code=StatusCode.DUPLICATE_DETECTED,
            reason=_reason(replace(winner.record, url=winner.url)),
            indexed=False,
            handed=False,
        )
        if not self._is_listed(record.url, self._others(winner)):
            demoted = replace(demoted, fingerprint=b"", etag="", last_modified="")
        session.state.amend(key, demoted)
        session.links.amended(demoted)
        if record.last_fetched >= self._since:
            session.recorder.recount(record, demoted)

    def ended(self, visit: Visit) -> None:
        """Take note of a visit's end: if nobody is left in the index for its former content, somebody is fetched."""
        self._leave(visit)
        before = visit.record
        if not before.fingerprint or visit.outcome is None or self._prints is None:
            return
        now = self._session.state.get(visit.entry.key)
        if now is not None and now.fingerprint == before.fingerprint and _has_place(now):
            return
        self._elect(before)

    def _leave(self, visit: Visit) -> None:
        fingerprint = self._open.pop(visit.entry.key, None)
        if fingerprint is None:
            return
        self._number_open[fingerprint] -= 1
        if not self._number_open[fingerprint]:
            del self._number_open[fingerprint]
            self._contested.discard(fingerprint)

    def _elect(self, left: UrlRecord) -> None:
        """Have the best of the remembered duplicates fetched, unless one is in the index or on its way."""
        others = self._others_of(left)
        ready = [one for one in others if not one.failures]
        if self._best(others) is not None or any(not one.checksum for one in ready):
            return
        best = min(ready, key=self._rank_of, default=None)
        if best is None:
            return
        logger.info("%s takes the place of %s", best.url, left.url)
        chosen = replace(best, etag="", last_modified="", checksum=b"")
        self._session.state.amend(url_key(best.url), chosen)
        self._session.links.again(chosen)


def _is_current(record: UrlRecord) -> bool:
    """Return whether a document is in the index, or is by what its last visit did, though a crash came between."""
    return record.searchable or record.outcome in HANDED


def _has_place(record: UrlRecord) -> bool:
    return record.searchable or record.outcome is UrlOutcome.DUPLICATE


def _reason(holder: UrlRecord) -> str:
    return f"has the content of {holder.url}"
