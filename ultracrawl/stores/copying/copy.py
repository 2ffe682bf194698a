"""Copies all stores of a project: what a source has, what its sources share, and the notes that last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import is_not
from typing import Any, cast

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import StateError, UserError
from ultracrawl.model import Cause, UrlRecord
from ultracrawl.stores.copying.place import StorePlace
from ultracrawl.stores.ordered_crawls import ORDERED
from ultracrawl.stores.port.texts import storable, storable_row
from ultracrawl.stores.port.transfer import (
    OF_PROJECT,
    OF_SOURCE,
    R,
    StoreExport,
    StoreImport,
    name_of,
)
from ultracrawl.stores.rows import Row, UrlRow
from ultracrawl.stores.runner_registry import active_runners
from ultracrawl.stores.site_orders import SITE_ORDERS
from ultracrawl.stores.source_notes.definition import DEFINITION, moved_definition
from ultracrawl.stores.source_notes.failure import FAILURE
from ultracrawl.stores.source_notes.let_in import LET_IN
from ultracrawl.stores.source_notes.lost_versions import LOST_VERSIONS
from ultracrawl.stores.source_notes.traps import TRAPS
from ultracrawl.stores.unfinished_copy import (
    UnfinishedCopy,
    mark_unfinished,
    mark_whole,
    require_whole,
    unfinished_copy,
)

_ROWS = 5000
"""Number of rows that are written together."""
NOTES = "note"
"""The name under which notes are counted."""
Counts = Mapping[str, int]
"""Numbers of rows by the name of their kind, without zeros."""
Progress = Callable[[str, int, int], object]
"""Gets a source (empty for what is shared), the number of its rows so far, and that of its URLs, 0 if unknown."""


@dataclass(frozen=True, slots=True)
class CopiedStores:
    """What was copied; the target was counted, and has as much."""

    sources: Mapping[str, Counts]
    shared: Counts
    changed: int = 0
    """The number of rows with a text that not every store can hold: see `storable`."""

    @property
    def rows(self) -> int:
        """The number of all rows and notes."""
        return sum(map(number_of, (*self.sources.values(), self.shared)))


def number_of(counts: Counts) -> int:
    """Return the sum of some numbers of rows."""
    return sum(counts.values())


def copy_stores(origin: StorePlace, target: StorePlace, progress: Progress) -> CopiedStores:
    """Copy all stores; what an earlier copy that was killed left in the target is deleted first.

    Raises `UserError` if a source is being crawled or scheduled, if there is nothing to copy, or if the target has
    sources of its own; `StateError`.
    """
    if str(origin) == str(target):
        raise UserError(f"{target} cannot be copied to itself; name another place with --to")
    if not origin.named.stored_sources(origin.folder):
        raise UserError(f"nothing was crawled yet in {origin}: there is no state to copy")
    require_whole(origin.notes(), origin.engine_name)
    for place in (origin, target):
        _require_no_runner(place)
    with origin.transfer.exporting(origin.folder) as rows:
        _make_room(target, origin, rows.sources)
        with target.transfer.importing(target.folder, rows.sources) as written:
            copied = _Copying(rows, written, progress)
            sources = {
                source: copied.counts(OF_SOURCE, source) | _copy_notes(origin, target, source)
                for source in rows.sources
            }
            shared = copied.counts(OF_PROJECT, "") | _copy_notes(origin, target, "")
            written.finish()
        mark_whole(target.notes(), target.engine_name)
    return CopiedStores(sources, shared, copied.changed)


def _require_no_runner(place: StorePlace) -> None:
    for runner in active_runners(place.notes()):
        raise UserError(
            f"the {runner.process} (`serve` or `crawl --continuous`) crawls sources of {place} when they are due; "
            "stop it first"
        )


def _make_room(target: StorePlace, origin: StorePlace, sources: Sequence[str]) -> None:
    """Mark the target as unfinished, and delete what an earlier copy left there."""
    stores, notes = target.named, target.notes()
    before = unfinished_copy(notes, target.engine_name)
    present = stores.stored_sources(target.folder)
    left = before.sources if before is not None else frozenset[str]()
    if own := sorted({*present} - {*left}):
        shown = ", ".join(own[:3]) + (f" and {len(own) - 3} more" if own[3:] else "")
        raise UserError(f"{target} has sources already ({shown}); copy to another place, or remove them")
    mark_unfinished(notes, target.engine_name, UnfinishedCopy(str(origin), sorted({*sources, *left})))
    for source in present:
        with stores.lock_source(target.folder, source):
            target.engine.remove_store(target.folder, source)


class _Copying:
    """Writes rows as they are read."""

    def __init__(self, rows: StoreExport, written: StoreImport, progress: Progress) -> None:
        self._rows, self._written, self._progress = rows, written, progress
        self.changed = 0
        """The number of rows whose texts were changed."""

    def counts(self, kinds: Sequence[type[Row]], source: str) -> dict[str, int]:
        """Copy all rows of a source, or the shared ones; returns their numbers."""
        counts = dict[str, int]()
        for kind in kinds:
            number = self._copy(kind, source, number_of(counts), counts.get(name_of(UrlRow), 0))
            stored = self._written.count(kind, source)
            if stored != number:
                raise StateError(
                    f"{number} rows of the kind {name_of(kind)!r} were written, and {stored} are there; copy again"
                )
            if number:
                counts[name_of(kind)] = number
        self._progress(source, number_of(counts), counts.get(name_of(UrlRow), 0))
        return counts

    def _copy(self, kind: type[Row], source: str, before: int, urls: int) -> int:
        number, rows = 0, iter(self._rows.rows(kind, source))
        while piece := list(islice(rows, _ROWS)):
            whole = list(map(_storable, piece))
            self.changed += sum(map(is_not, whole, piece))
            self._written.write(kind, whole, source)
            number += len(piece)
            self._progress(source, before + number, urls)
        return number


def _storable(row: R) -> R:
    """Return a row with texts that every store can hold; the row itself if it has only such."""
    if isinstance(row, UrlRow):
        record = _storable_record(row.record)
        return row if record == row.record else row._replace(record=record)
    values = storable_row(row)
    return row if values == tuple(row) else cast(Any, type(row))._make(values)


def _storable_record(record: UrlRecord) -> UrlRecord:
    removal = record.removal
    return replace(
        record,
        display_url=storable(record.display_url),
        etag=storable(record.etag),
        last_modified=storable(record.last_modified),
        language=storable(record.language),
        cause=_storable_cause(record.cause),
        removal=removal and replace(removal, cause=_storable_cause(removal.cause)),
    )


def _storable_cause(cause: Cause) -> Cause:
    return replace(cause, subject=storable(cause.subject), detail=storable(cause.detail))


def _copy_notes(origin: StorePlace, target: StorePlace, source: str) -> dict[str, int]:
    """Copy the notes that outlast a process, of a source or of the service; returns their number."""
    read, written, number = origin.notes(source), target.notes(source), 0
    for name in (FAILURE, DEFINITION, SITE_ORDERS, LET_IN, LOST_VERSIONS, TRAPS) if source else (ORDERED,):
        text = read.read(name)
        if text is None:
            written.delete(name)
            continue
        if name == DEFINITION:
            text = moved_definition(text, origin.folder, None if target.options else target.folder)
        written.write(name, text)
        number += 1
    return {NOTES: number} if number else {}
