"""The store of a source: its runs, and the flush that writes what its parts have gathered; for every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ultracrawl.stores.port.queue import ALL_KNOWN_URLS, QueueStart
from ultracrawl.stores.port.store import RunMark
from ultracrawl.stores.port.texts import storable_row
from ultracrawl.stores.state.documents import Documents
from ultracrawl.stores.state.links import Links
from ultracrawl.stores.state.part import Access, Part, Writing, put_rows
from ultracrawl.stores.state.queue import Queue
from ultracrawl.stores.state.records import Records
from ultracrawl.stores.state.sites import Sites
from ultracrawl.stores.state.visits import Visits

MAX_LISTINGS = 100
"""Number of runs whose listing state is kept."""


class Listings(Part):
    """How far runs have listed their source; see `Store.listings`."""

    SELECT_ALL = "SELECT run, state FROM listing WHERE {own}"
    PUT = put_rows("listing", "run int", "state text")
    DELETE_ALL = "DELETE FROM listing WHERE {own}"
    DELETE_OLD = "DELETE FROM listing WHERE {own} AND run < %s"

    def begin_generation(self) -> None:
        """Begin without states."""
        self._states: dict[int, str] = {}
        self.changes = (self._states,)

    def all(self) -> list[tuple[int, str]]:
        """Return (run number, listing state), newest first."""
        stored: dict[int, str] = dict(self._read(self.SELECT_ALL))
        return sorted((stored | self.frozen._states | self._states).items(), reverse=True)

    def note(self, run: int, state: str) -> None:
        """Store how far a run has listed its source."""
        self._states[run] = state

    def forget_all(self) -> None:
        """Delete all states, durably."""
        self._access.write(lambda to: to.execute(self.DELETE_ALL))
        for part in self.generations:
            part.begin_generation()

    def write_changes(self, to: Writing) -> None:
        """Write the states, and delete those of runs long ago."""
        to.run(self.PUT, [storable_row(state) for state in self._states.items()])
        if self._states:
            to.execute(self.DELETE_OLD, (max(self._states) - MAX_LISTINGS,))


class UnitOfWork:
    """Base class of the store of each engine: its parts, the runs, and what a flush does with the parts; see `Store`.

    An engine makes the parts, and says how a new run fills the queue and what leaves with a URL.
    """

    HAS_FETCHED = "SELECT EXISTS (SELECT 1 FROM url WHERE {own} AND last_fetched > 0)"
    INSERT_RUN = """
        INSERT INTO run (source, part, number, started, scope, cycle, minor, due, mode)
        VALUES ({ids}, %s, %s, %s, %s, %s, %s, %s)"""
    UPDATE_RUN = (
        "UPDATE run SET finished = %s, report = %s, scope = %s, deleted = %s WHERE {own} AND number = %s"
    )
    SELECT_RUNS = """
        SELECT number, started, finished, scope, report, cycle, minor, due, mode, deleted FROM run WHERE {own}
        ORDER BY number DESC LIMIT %s"""
    CLEAR_ALLOWANCES = "DELETE FROM allowance WHERE {own}"

    queue: Queue
    visits: Visits
    records: Records
    documents: Documents
    sites: Sites
    links: Links
    _listings: Listings

    def __init__(self, access: Access, source: str) -> None:
        """The parts are there already."""  # noqa: D401
        self.source = source
        self._unit = access
        # Records first: the writes of the other parts refer to rows that records insert.
        parts = (self.records, self.queue, self.visits, self.documents, self.sites, self.links)
        self._parts: tuple[Part, ...] = (*parts, self._listings)
        self._frozen = 0
        """The number of frozen changes."""
        self.prepare_flush: Callable[[], object] = lambda: None

    # ---- runs

    def begin_run(
        self, started: float, scope: str, start: QueueStart = ALL_KNOWN_URLS
    ) -> tuple[RunMark, bool]:
        """Begin a new run, or resume the last one if it did not end."""
        latest, rule = next(iter(self.runs(1)), None), start.rule
        if (
            latest
            and not latest.finished
            and latest.scope == scope
            and not rule.is_over(latest.place, latest.started, started)
        ):
            self.sites.resume_run()
            self.queue.dequeue_removed()
            self.visits.enter_cycle(latest.cycle)
            return latest, True
        if latest and latest.scope != scope and not start.listed:
            rule = rule.for_everything
        ((fetched,),) = self._unit.read(self.HAS_FETCHED)
        place = rule.following(latest.place if latest else None, started, nothing_stored=not fetched)
        run = RunMark.at(latest.number + 1 if latest else 1, started, scope, place)
        self._make_room(run)
        self._add_run(run, start)
        self.queue.reload_counters()
        self.visits.enter_cycle(run.cycle)
        return run, False

    def _make_room(self, run: RunMark) -> None:
        """Forget what a new run does not know any more; if the run then does not begin, the next one does it again."""
        self.flush()
        forgotten = sorted({*self.records.forgettable_urls(), *self.sites.unused_sitemaps(run.number - 1)})

        def make_room(to: Writing) -> tuple[str, ...]:
            self._drop(to, forgotten)
            self.records.clean(to)
            return self.sites.begin_run(to, run.started)

        renewed = self._unit.write(make_room, whole=True)
        self._forget_read()
        self.sites.run_began(renewed)

    def _add_run(self, run: RunMark, start: QueueStart) -> None:
        """Add a new run, and fill its queue, by `_insert_run`."""
        raise NotImplementedError

    def _insert_run(self, to: Writing, run: RunMark) -> None:
        row = (run.number, run.started, run.scope, run.cycle, run.minor, run.due, run.mode)
        to.execute(self.INSERT_RUN, row)
        to.execute(self.CLEAR_ALLOWANCES)

    def end_run(self, run: RunMark) -> None:
        """Store the progress of a run or its end, durably."""
        self.flush()
        row = (run.finished, run.report, run.scope, run.deleted, run.number)
        self._unit.write(lambda to: to.execute(self.UPDATE_RUN, row))

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""
        return [RunMark(*row) for row in self._unit.read(self.SELECT_RUNS, limit)]

    # ---- listings

    def listings(self) -> list[tuple[int, str]]:
        """Return (run number, listing state), newest first."""
        return self._listings.all()

    def note_listing(self, run: int, text: str) -> None:
        """Store how far a run has listed its source."""
        self._listings.note(run, text)

    def forget_listings(self) -> None:
        """Delete all listing states, durably."""
        self._listings.forget_all()

    # ---- the unit of work

    @property
    def unflushed(self) -> int:
        """The number of unflushed writes."""
        return sum(part.unwritten for part in self._parts) + self._frozen

    def flush(self) -> None:
        """Make everything written so far durable: a flush that has failed first, by itself."""
        self.prepare_flush()
        while self._freeze():
            self._unit.write(self._write_frozen)
            self._forget_frozen()

    def _freeze(self) -> bool:
        """Set the changes aside that a flush writes: those of an earlier one that failed go first, by themselves."""
        if self._frozen:
            return True
        number = self.unflushed
        if not number:
            return False
        for part in self._parts:
            part.freeze()
        self._frozen = number
        return True

    def _write_frozen(self, to: Writing) -> None:
        for part in self._parts:
            part.frozen.write_changes(to)

    def _forget_frozen(self) -> None:
        for part in self._parts:
            part.forget_frozen()
        self._frozen = 0

    def drop_urls(self, keys: Iterable[int]) -> None:
        """Delete URLs, durably."""
        self.flush()
        dropped = sorted(set(keys))
        if dropped:
            gone = self._unit.many(dropped)

            def drop(to: Writing) -> None:
                to.execute(self.queue.DELETE_KEYS, (gone,))
                self._drop(to, dropped)

            self._unit.write(drop)
        self.queue.forget_read()
        self._forget_read()

    def _drop(self, to: Writing, keys: list[int]) -> None:
        """Delete URLs with everything about them but their entries in the queue and in lists of feeds."""
        raise NotImplementedError

    def _forget_read(self) -> None:
        """Forget what was read of URLs, some of which have left the document table."""
        self._unit.record_cache.invalidate()
        self.visits.forget_read()
        self.documents.forget_read()
        self.sites.forget_read()
