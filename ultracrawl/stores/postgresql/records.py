"""The statements of the document table: table `url`, and the narrow tables by which its records are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Self

import psycopg
from xxhash import xxh3_64_intdigest

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.postgresql.access.fencing import ask_for, fetched
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS
from ultracrawl.stores.postgresql.hosts import Hosts
from ultracrawl.stores.postgresql.part_base import PostgresWriting, StoreAccess
from ultracrawl.stores.postgresql.queue import PostgresQueue
from ultracrawl.stores.postgresql.record_row import CODES, READ, SUBMIT, UPSERT, removal_row, row_of
from ultracrawl.stores.postgresql.visits import PostgresVisits
from ultracrawl.stores.state.part import Writing, put_rows
from ultracrawl.stores.state.read_ahead import Row
from ultracrawl.stores.state.records import Records, record_of

_REDIRECTED, _GONE = OUTCOME_NUMBERS[UrlOutcome.REDIRECTED], OUTCOME_NUMBERS[UrlOutcome.GONE]
_PENDING, _HELD = PURPOSE_NUMBERS[Retained.APPROVAL], PURPOSE_NUMBERS[Retained.CHANGE]
_DISCOVER = """
    INSERT INTO url (source, part, key, number, site, url, depth, display_url, hops, first_seen)
    SELECT {ids}, * FROM unnest(
        %s::bigint[], %s::bigint[], %s::int[], %s::text[], %s::int[], %s::text[], %s::int[], %s::float8[])
    ON CONFLICT (source, part, key) DO UPDATE SET depth = least(url.depth, excluded.depth)"""
_PUT = "INSERT INTO {table} (source, part, {name}, key) SELECT {{ids}}, * FROM unnest({types}) ON CONFLICT DO NOTHING"
_PUT_CONTENTS = _PUT.format(table="content", name="fingerprint", types="%s::bytea[], %s::bigint[]")
_PUT_SHOWN = _PUT.format(table="shown", name="display_hash", types="%s::bigint[], %s::bigint[]")
_PUT_REDIRECTED = _PUT.format(table="redirected", name="target_hash", types="%s::bigint[], %s::bigint[]")
_PUT_REMOVALS = put_rows("removal", "key bigint", "reason int2, cause text")
_CLEAN = (
    """
    DELETE FROM content c WHERE {c} AND NOT EXISTS (
        SELECT FROM url u WHERE {u} AND u.key = c.key AND u.fingerprint = c.fingerprint)""",
    f"""
    DELETE FROM redirected c WHERE {{c}} AND NOT EXISTS (
        SELECT FROM url u WHERE {{u}} AND u.key = c.key AND u.outcome = {_REDIRECTED})""",  # noqa: S608 - a constant
    """
    DELETE FROM shown c WHERE {c} AND NOT EXISTS (
        SELECT FROM url u WHERE {u} AND u.key = c.key AND u.display_url IS NOT NULL)""",
)
"""Delete the rows of narrow tables that earlier visits left."""
_SELECT_BY_FINGERPRINTS = f"""
    {READ} AND u.fingerprint = ANY(%s)
    AND u.key IN (SELECT c.key FROM content c WHERE {{c}} AND c.fingerprint = ANY(%s)) ORDER BY u.key"""  # noqa: S608 - constant texts
_SELECT_REDIRECTING = f"""
    {READ} AND u.outcome = {_REDIRECTED} AND u.subject = %s
    AND u.key IN (SELECT c.key FROM redirected c WHERE {{c}} AND c.target_hash = %s) ORDER BY u.number"""  # noqa: S608 - constant texts
_SELECT_SHOWN = "SELECT key FROM shown WHERE {own} AND display_hash = %s"
_DELETE_SUBMITTED = "DELETE FROM submitted WHERE {own} AND key = ANY(%s)"
_DELETE_REMOVALS = "DELETE FROM removal WHERE {own} AND key = ANY(%s)"


class PostgresRecords(Records):
    """The statements of `Records`, about the tables `url`, `content`, `near`, `shown`, `submitted`, `removal` too."""

    ALL_FINGERPRINTS = "SELECT DISTINCT fingerprint FROM content WHERE {own} ORDER BY fingerprint"
    DELETE_SIGNATURES = """
        DELETE FROM near n WHERE {n} AND NOT EXISTS (SELECT FROM content c WHERE {c} AND c.fingerprint = n.fingerprint)"""  # noqa: E501
    SELECT_BY_KEYS = f"{READ} AND u.key = ANY(%s)"
    HAS_DISPLAY_URLS = "SELECT 1 FROM shown WHERE {own} LIMIT 1"
    SELECT_ALL = f"{READ} AND u.url > %s ORDER BY u.url"
    SELECT_OF_OUTCOME = f"{READ} AND u.url > %s AND u.outcome = %s ORDER BY u.url"
    SELECT_SOME = f"{READ} AND (u.indexed OR s.key IS NOT NULL) ORDER BY u.key LIMIT %s"
    SELECT_PENDING = f"{READ} AND p.key IS NOT NULL ORDER BY u.url"
    SELECT_HELD = f"{READ} AND h.key IS NOT NULL ORDER BY u.url"
    SELECT_REMOVALS = f"{READ} AND m.key IS NOT NULL ORDER BY u.url"
    SELECT_FORGETTABLE = f"""
        SELECT u.key FROM url u WHERE {{u}} AND u.outcome = {_GONE} AND u.failures >= %s
        AND NOT EXISTS (SELECT FROM removal m WHERE {{m}} AND m.key = u.key)"""  # noqa: S608 - a constant
    COUNT_VISITED = """
        SELECT u.outcome, count(*) FROM url u WHERE {u} AND u.last_fetched >= %s
        AND NOT EXISTS (SELECT FROM queue q WHERE {q} AND q.key = u.key) GROUP BY u.outcome"""
    COUNT_BY_OUTCOME = """
        SELECT u.outcome, count(*), count(*) FILTER (WHERE u.indexed),
        count(*) FILTER (WHERE u.indexed OR s.key IS NOT NULL) FROM url u
        LEFT JOIN submitted s ON {s} AND s.key = u.key WHERE {u} GROUP BY u.outcome"""
    COUNT_REST = f"""
        SELECT (SELECT count(*) FROM queue WHERE {{own}}),
        (SELECT count(*) FROM retained WHERE {{own}} AND purpose = {_PENDING}),
        (SELECT count(*) FROM removal WHERE {{own}}),
        (SELECT count(*) FROM retained WHERE {{own}} AND purpose = {_HELD})"""  # noqa: S608 - constants
    per_look_up = 2000
    """A million values take as long as some hundred round trips."""
    _access: StoreAccess
    _queue: PostgresQueue

    def __init__(self, access: StoreAccess, queue: PostgresQueue, visits: PostgresVisits) -> None:
        """`queue` and `visits` are written with the URLs that they are about."""
        self._hosts = Hosts(access.database)
        self._database = access.database
        super().__init__(access, access.database.name, queue)
        self._visits = visits

    def begin_generation(self) -> None:
        """Begin without URLs."""
        super().begin_generation()
        self._first_number = 0
        """The number of the first new URL, given when the generation is frozen."""
        self._written_hosts: dict[str, int] = {}
        """The numbers of sites that the flush has used."""

    def freeze(self) -> Self:
        """Set the changes aside, with numbers for their URLs: what writes them writes the highest number, too."""
        frozen = super().freeze()
        frozen._first_number = self._database.numbered + 1
        self._database.numbered += len({*frozen._discovered, *frozen._finished, *frozen._amended})
        return frozen

    def _highest_number(self) -> int:
        return self._database.numbered

    def _keyed(self, rows: Iterable[Row]) -> Iterator[tuple[int, UrlRecord]]:
        for row in rows:
            yield row[0], record_of(row, self._source, CODES)

    def _rows_with_fingerprints(self, fingerprints: list[bytes]) -> list[Row]:
        return self._read(_SELECT_BY_FINGERPRINTS, fingerprints, fingerprints)

    def _keys_shown_as(self, url: str) -> list[int]:
        return [key for (key,) in self._read(_SELECT_SHOWN, text_hash(url))]

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL."""
        return [record for _, record in self._keyed(self._read(_SELECT_REDIRECTING, url, text_hash(url)))]

    def discover_url(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add an unknown URL to the table, and to the queue if `queued`."""
        if self._possible_keys.is_absent(entry.key):
            self._fresh.add(entry.key)
        super().discover_url(entry, now, queued=queued)

    # ---- writing, inside a transaction of the store

    def clean(self, to: Writing) -> None:
        """Delete what earlier visits left in the narrow tables; once a run."""
        for statement in _CLEAN:
            to.execute(statement)
        super().clean(to)

    def ask_stored(self, db: psycopg.Connection) -> Callable[[], None]:
        """Send the look-ups of a flush with its other reads; returns a function that keeps the answers."""
        cursor = ask_for(db, self._database.sql(self.SELECT_URLS), self._asked)

        def keep_answers() -> None:
            self._answers = {key: (url, depth) for key, url, depth in fetched(cursor)}

        return keep_answers

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes, and what of queue and visits depends on them."""
        assert isinstance(to, PostgresWriting)
        written = {key: record for key, (_, record) in self._finished.items()} | self._amended
        sites = {key: entry.site for key, (entry, _) in {**self._discovered, **self._finished}.items()}
        for key, record in self._amended.items():
            sites.setdefault(key, site_of(record.url))
        queue, visits = self._queue.frozen, self._visits.frozen
        hosts = self._hosts.numbers(to.connection, {*sites.values(), *queue.changed_sites})
        self._written_hosts = hosts
        order = dict.fromkeys((*self._discovered, *self._finished, *self._amended))
        numbers = {key: number for number, key in enumerate(order, self._first_number)}
        found = [
            (key, numbers[key], hosts[e.site], e.url, e.depth, e.display_url or None, e.hops, float(now))
            for key, (e, now) in self._discovered.items()
            if key not in written
        ]
        to.run(_DISCOVER, found)
        rows = [row_of(key, numbers[key], hosts[sites[key]], record) for key, record in written.items()]
        to.run(UPSERT, rows)
        self._write_marks(to, written)
        queue.write_entries(to, hosts)
        visits.write_new(to, self._discovered)
        super().write_changes(to)

    def _write_marks(self, to: Writing, written: dict[int, UrlRecord]) -> None:
        """Write the rows of the narrow tables about records."""
        to.run(_PUT_CONTENTS, [(r.fingerprint, key) for key, r in written.items() if r.fingerprint])
        shown = {key: e.display_url for key, (e, _) in self._discovered.items() if key not in written}
        shown |= {key: r.display_url for key, r in written.items()}
        to.run(_PUT_SHOWN, [(text_hash(url), key) for key, url in shown.items() if url])
        redirected = [
            (text_hash(r.cause.subject), key)
            for key, r in written.items()
            if r.outcome is UrlOutcome.REDIRECTED and r.cause.subject
        ]
        to.run(_PUT_REDIRECTED, redirected)
        submitted = {key for key, r in written.items() if r.submitted}
        removals = [removal_row(key, r.removal) for key, r in written.items() if r.removal is not None]
        to.run(_DELETE_SUBMITTED, [(key,) for key in written.keys() - submitted])
        if here := sorted(submitted - self._access.elsewhere):
            to.execute(SUBMIT, (self._access.place, here))
        to.run(_DELETE_REMOVALS, [(key,) for key in written.keys() - {row[0] for row in removals}])
        to.run(_PUT_REMOVALS, removals)

    def forget_frozen(self) -> None:
        """Forget what was flushed, and keep what it found."""
        self._hosts.remember(self.frozen._written_hosts)
        self._queue.expect_urls(list(self.frozen._discovered))
        super().forget_frozen()


def text_hash(url: str) -> int:
    """Return the hash by which URLs are found in narrow tables: 64 bits, signed."""
    return xxh3_64_intdigest(url.encode(errors="replace")) - (1 << 63)
