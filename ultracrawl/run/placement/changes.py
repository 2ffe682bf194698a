"""Watches whether many documents of a run become alike, as behind a log-in page that is returned for every URL."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from enum import Enum
from itertools import chain, islice
from typing import TYPE_CHECKING

from ultracrawl.model import RemovalReason, UrlRecord
from ultracrawl.rules.duplicates.likeness import MIN_GROUP, Change, Group, Verdict
from ultracrawl.rules.recrawl.guard import LossGuard
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.placement.new_versions import unpack_version
from ultracrawl.stores import Retained, Store

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

PATIENCE = 250
"""Later visits of its site after which a change that no other is alike is let through."""
MAX_GROUPS = 200
"""Groups that are open at a time; the oldest is let through."""
MAX_KNOWN = 500
"""Held-back documents of earlier runs with which changes are compared."""
BATCH = 200
"""Documents that are decided about before control returns to the event loop."""


class Answer(Enum):
    """What becomes of a new version for now."""

    PLACE = "place"
    DEFER = "defer"
    HOLD = "hold"


class AlikeChanges(Feature):
    """Judges new versions of documents in the index: most are placed at once, suspicious ones wait for others.

    A change is suspicious if words of the former version are lost. It waits until `PATIENCE` later visits of its site
    showed nothing like it, or until the end of the run. Documents that became alike each other form a group. When the
    groups together exceed the limit, their changes are held back; documents that keep their own words are not.
    """

    def __init__(self, context: CrawlContext) -> None:
        section = context.source.modification
        self._context = context
        self._guard = LossGuard(section.percent, section.always)
        self._is_on = section.percent < 100
        self._most: int | None = None
        self._groups: list[Group] = []
        self._single: dict[str, deque[tuple[int, Change]]] = {}
        """Changes that no other is alike, by site, each with the number of the visit after which it is let through."""
        self._visits = Counter[str]()
        """Number of visits of each site in `_single`."""
        self._waiting: dict[int, str] = {}
        """Keys and sites of the documents that wait."""
        self._ready: deque[int] = deque()
        """Keys of those that may be placed."""

    def opened(self) -> None:
        """Load what earlier runs held back or, if they were killed, had not decided about."""
        if self._context.run.replay:
            return
        documents = self._context.store.documents
        for key in documents.retained_keys(Retained.CHANGE)[:MAX_KNOWN]:
            if change := self._load(Retained.CHANGE, key):
                self._add_held(change)
        for key in documents.retained_keys(Retained.DEFERRED):
            if self._is_link_open(key):
                continue  # it waits for the page that its canonical link names
            if change := self._load(Retained.DEFERRED, key):
                self._context.counters.count_scheduled()
                record = self._context.store.records.get_record(key)
                self._admit(change, site := site_of(record.url) if record is not None else "")
                self._waiting[key] = site
            else:
                documents.release_document(Retained.DEFERRED, key)

    def _add_held(self, change: Change) -> None:
        group = next((each for each in self._groups if change.is_like(each.title, each.signature)), None)
        if group is None:
            group = Group.of(change)
            group.verdict = Verdict.HOLD
            self._groups.append(group)
        else:
            group.add(change)

    def _is_link_open(self, key: int) -> bool:
        data = self._context.store.documents.retained_document(Retained.DEFERRED, key)
        found = unpack_version(data) if data else None
        return found is not None and bool(found[0].canonical)

    def _load(self, purpose: Retained, key: int) -> Change | None:
        data = self._context.store.documents.retained_document(purpose, key)
        record = self._context.store.records.get_record(key)
        found = unpack_version(data) if data else None
        if record is None or found is None:
            return None
        _, document = found
        return Change.of(key, record.url, document.title, document.text, record.sketch)[0]

    # ---- new versions

    def judge(self, visit: Visit, document: IndexDocument) -> tuple[Answer, str]:
        """Return what becomes of a new version, and the title that it shares; sets the sketch of the visit."""
        key, record = visit.entry.key, visit.record
        if not self._is_on:
            return Answer.PLACE, ""
        if not record.searchable and visit.entry.display_url:
            record = _shown_before(self._context.store, visit) or record
        # Words of the page that was asked for are its own; those of the URL of a wall are not.
        url = record.url or visit.url
        change, sketch = Change.of(key, url, document.title, document.text, record.sketch)
        visit.page = visit.page._replace(sketch=sketch)
        is_known = bool(record.sketch or record.checksum)  # else its latest version was lost in a crash
        if visit.from_store or not (record.searchable and is_known and change.is_suspect):
            return Answer.PLACE, ""
        verdict = self._admit(change, visit.entry.site)
        if verdict is Verdict.HOLD:
            return Answer.HOLD, change.label
        return (Answer.PLACE if verdict is Verdict.HARMLESS else Answer.DEFER), ""

    def _admit(self, change: Change, site: str) -> Verdict:
        """Compare a change with the others; returns the verdict on its group."""
        group = self._join(change, site)
        if group.verdict is Verdict.OPEN:
            self._waiting[change.key] = site
            if len(group.members) >= MIN_GROUP:
                self._weigh()
        if group.verdict is not Verdict.OPEN:
            self._waiting.pop(change.key, None)
        return group.verdict

    def _join(self, change: Change, site: str) -> Group:
        """Return the group that a change belongs to; a new one is kept as a single change of its site."""
        for group in self._groups:
            if change.is_like(group.title, group.signature):
                group.add(change)
                return group
        singles = self._single.setdefault(site, deque())
        for single in singles:
            other = single[1]
            if other.key != change.key and change.is_like(other.title, other.signature):
                singles.remove(single)
                group = Group.of(other)
                group.add(change)
                self._open_group(group)
                return group
        singles.append((self._visits[site] + PATIENCE, change))
        return Group.of(change)

    def _open_group(self, group: Group) -> None:
        self._groups.append(group)
        if len(self._groups) > MAX_GROUPS:
            oldest = next(
                (each for each in self._groups if each.verdict is not Verdict.HOLD), self._groups[0]
            )
            self._groups.remove(oldest)
            self._ready.extend(key for key in oldest.members if key in self._waiting)

    def _weigh(self, others: int = 0) -> None:
        """Decide about all groups if they exceed the limit; `others` counts documents that left for the same reason."""
        grown = [
            each
            for each in self._groups
            if each.verdict is not Verdict.HARMLESS and len(each.members) >= MIN_GROUP
        ]
        if sum(len(each.members) for each in grown) + others <= self._allowed:
            return
        harmful = [each for each in grown if each.verdict is Verdict.HOLD or each.overwrites]
        for group in grown:
            if group not in harmful:
                group.verdict = Verdict.HARMLESS
        if sum(len(each.members) for each in harmful) + others > self._allowed:
            for group in harmful:
                group.verdict = Verdict.HOLD

    @property
    def _allowed(self) -> int:
        if self._most is None:
            started = self._context.mark.started
            self._context.flush()
            self._most = self._guard.limit(self._context.store.documents.documents_before(started))
        return self._most

    # ---- those that wait

    def visit_ended(self, visit: Visit) -> None:
        """Forget what waits if a later visit ended otherwise; let through what enough visits have come after."""
        key, site = visit.entry.key, visit.entry.site
        if key in self._waiting and visit.outcome is not None and not visit.outcome.transient:
            self.forget(key)
        singles = self._single.get(site)
        if not singles or visit.revived:
            return
        self._visits[site] += 1
        while singles and singles[0][0] <= self._visits[site]:
            self._ready.append(singles.popleft()[1].key)

    def forget(self, key: int) -> None:
        """Drop the new version of a document that waits."""
        if self._waiting.pop(key, None) is not None:
            self._context.store.documents.release_document(Retained.DEFERRED, key)

    def tick(self) -> None:
        """Decide about some documents whose time has come."""
        if self._waiting and (
            self._ready or any(group.verdict is not Verdict.OPEN for group in self._groups)
        ):
            self._context.documents.settle()

    def ready(self) -> Iterator[tuple[int, str]]:
        """Yield at most `BATCH` keys that can be decided about now, each with the title if it is to be held back."""
        released = ((self._ready.popleft(), "") for _ in range(len(self._ready)))
        decided = (
            (key, group.label if group.verdict is Verdict.HOLD else "")
            for group in self._groups
            if group.verdict is not Verdict.OPEN
            for key in list(group.members)
        )
        waiting = ((key, label) for key, label in chain(released, decided) if key in self._waiting)
        yield from islice(waiting, BATCH)

    def end_waiting(self, *, complete: bool) -> None:
        """Decide about everything that waits; if the run is not `complete`, only about documents without others."""
        if not self._waiting:
            return
        self._unite_sites()
        self._weigh(_duplicates_to_remove(self._context.store))
        for singles in self._single.values():
            self._ready.extend(change.key for _, change in singles)
        self._single.clear()
        if complete:
            open_groups = [group for group in self._groups if group.verdict is Verdict.OPEN]
            self._ready.extend(key for group in open_groups for key in group.members)
            self._groups = [group for group in self._groups if group.verdict is not Verdict.OPEN]

    def _unite_sites(self) -> None:
        """Compare the single changes of all sites with each other."""
        singles = [change for own in self._single.values() for _, change in own]
        if len(self._single) > 1:
            self._single.clear()
            for change in singles:
                self._join(change, "")


def _duplicates_to_remove(store: Store) -> int:
    """Return how many documents are to leave as duplicates: that is how pages with exactly equal text end."""
    leaving = store.records.records_to_remove()
    return sum(record.leaves_for(RemovalReason.DUPLICATE) for record in leaving)


def _shown_before(store: Store, visit: Visit) -> UrlRecord | None:
    """Return the record of the document that is in the index under the display URL that a redirect lent."""
    owner = store.records.get_record(url_key(visit.entry.display_url))
    return owner if owner is not None and owner.searchable else None
