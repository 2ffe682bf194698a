"""The end of a cycle: documents that nothing led to for several cycles are asked for, or leave."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason
from ultracrawl.rules.recrawl.orphans import provable
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.sources import DataSource
from ultracrawl.stores import Store, UnseenUrl

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is to be done about URLs that were not seen for long."""

    ask: tuple[UnseenUrl, ...] = ()
    """Documents to be fetched, so that the server decides."""
    remove: tuple[UnseenUrl, ...] = ()
    """Documents that leave at once."""
    forget: tuple[UnseenUrl, ...] = field(default=())
    """URLs without a document in the index that leave the document table."""


class OrphanSweeper:
    """Finds orphans once a cycle has nothing left to do (FAST 5.1 J63, J64).

    What was not seen for `after` cycles (neither fetched, nor led to) is a candidate. With `delete` off every
    candidate with a document is fetched: it leaves only if the server says that it is gone, and counts as seen
    after any other answer. What leaves without being asked for is a `provable` orphan: no page that could not
    be read in this cycle still links to it. Start URLs are never orphans.
    """

    def __init__(self, state: Store, source: DataSource, seeds: tuple[str, ...]) -> None:
        self._state = state
        self._after = source.orphans.after
        self._delete = source.orphans.delete
        self._seeds = frozenset(map(url_key, seeds))

    def sweep(self) -> Sweep:
        """Return what to do now; to be called again when it was done, until nothing is found."""
        visits = self._state.visits
        if visits.cycle <= self._after:
            return Sweep()
        self._state.flush()
        unseen = {one.key: one for one in visits.unseen_urls(self._after) if one.key not in self._seeds}
        if not unseen:
            return Sweep()
        proven = provable(unseen, self._state.links.page_links())
        documents = [one for one in unseen.values() if one.has_document]
        return Sweep(
            ask=() if self._delete else tuple(documents),
            remove=tuple(one for one in documents if self._delete and one.key in proven),
            forget=tuple(one for one in unseen.values() if not one.has_document and one.key in proven),
        )


def remove_orphans(state: Store, sweep: Sweep, cycles: int) -> None:
    """Have the documents of orphans leave the index with the deletions of this run, and forget the other orphans."""
    removal = Removal(RemovalReason.ORPHAN, Cause(CauseCode.UNLINKED, str(cycles)))
    for one in sweep.remove:
        record = state.records.get_record(one.key)
        if record is not None:
            state.records.amend_record(one.key, replace(record, removal=removal))
    state.drop_urls(one.key for one in sweep.forget)
