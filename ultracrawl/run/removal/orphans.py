"""Finds orphans at the end of a cycle: documents that nothing has led to for several cycles."""

from __future__ import annotations

import logging

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason
from ultracrawl.rules.recrawl.orphans import provable_orphans
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.sources import DataSource
from ultracrawl.stores import Store, UnseenUrl

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The actions for URLs that were not seen for several cycles."""

    ask: tuple[UnseenUrl, ...] = ()
    """Documents to be fetched, so that the server's response decides."""
    remove: tuple[UnseenUrl, ...] = ()
    """Documents to be removed at once."""
    forget: tuple[UnseenUrl, ...] = field(default=())
    """URLs without a document in the index, to be dropped from the document table."""


class OrphanSweeper:
    """Finds orphans once a cycle has nothing left to do (FAST 5.1 J63, J64).

    URLs that were not seen for `after` cycles (neither fetched nor led to) are candidates. With `delete` off every
    candidate with a document is fetched: it leaves only if the server reports it as gone, and counts as seen after any
    other response. Documents are removed without a request only by `provable_orphans`: no page that could not be read
    in this cycle still links to them. Start URLs are never orphans.
    """

    def __init__(self, state: Store, source: DataSource, seeds: tuple[str, ...]) -> None:
        self._state = state
        self._after = source.orphans.after
        self._delete = source.orphans.delete
        self._seeds = frozenset(map(url_key, seeds))

    def sweep(self) -> Sweep:
        """Return the actions to take now; to be called again after they were taken, until there are none."""
        visits = self._state.visits
        if visits.cycle <= self._after:
            return Sweep()
        self._state.flush()
        unseen = {url.key: url for url in visits.unseen_urls(self._after) if url.key not in self._seeds}
        if not unseen:
            return Sweep()
        proven = provable_orphans(unseen, self._state.links.page_links())
        documents = [url for url in unseen.values() if url.has_document]
        return Sweep(
            ask=() if self._delete else tuple(documents),
            remove=tuple(url for url in documents if self._delete and url.key in proven),
            forget=tuple(url for url in unseen.values() if not url.has_document and url.key in proven),
        )


def remove_orphans(state: Store, sweep: Sweep, cycles: int) -> None:
    """Mark the documents of orphans for removal in this run, and drop the other orphans."""
    removal = Removal(RemovalReason.ORPHAN, Cause(CauseCode.UNLINKED, str(cycles)))
    for orphan in sweep.remove:
        record = state.records.get_record(orphan.key)
        if record is not None:
            state.records.amend_record(orphan.key, replace(record, removal=removal))
    state.drop_urls(orphan.key for orphan in sweep.forget)
