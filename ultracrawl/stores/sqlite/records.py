"""The statements of the document table: table `url` of the SQLite store, and table `near` with signatures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ultracrawl.model import CauseCode, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.stores.port.texts import storable, storable_texts
from ultracrawl.stores.sqlite.database import ImpossibleValueError, SqliteAccess
from ultracrawl.stores.sqlite.queue import SqliteQueue
from ultracrawl.stores.sqlite.statements import SqliteVisits
from ultracrawl.stores.state.part import Writing
from ultracrawl.stores.state.read_ahead import Row
from ultracrawl.stores.state.records import RECORD, Codes, Records, cause_text, record_of

COLUMNS = f"{RECORD}, submitted, removal_code, removal_cause"
"""The columns of table `url` that a record fills, as `row_of` returns them from the third value on."""
_NAMES = COLUMNS.split(", ")
_CHANGED = ", ".join(f"{name}=excluded.{name}" for name in _NAMES[1:])  # the URL of a key never changes

READ_COLUMNS = f"""
    key, {RECORD}, submitted, key IN (SELECT key FROM pending), key IN (SELECT key FROM held),
    removal_code, removal_cause"""  # noqa: S608 - constant column names
"""The columns of table `url` that `record_of` takes."""
CODES = Codes(UrlOutcome, CauseCode, RemovalReason)
READ = f"SELECT {READ_COLUMNS} FROM url WHERE"  # noqa: S608 - the same
"""The beginning of a query whose rows it takes."""
UPSERT = f"""
    INSERT INTO url (key, site, {COLUMNS}) VALUES (?,?{",?" * len(_NAMES)})
    ON CONFLICT (key) DO UPDATE SET {_CHANGED}"""  # noqa: S608 - constant column names
"""Inserts or updates a row; takes the values of `row_of`."""
REPLACE = f"UPDATE url SET {', '.join(f'{name}=?' for name in _NAMES[1:])} WHERE id=?"  # noqa: S608 - constant names
"""Updates a row by id, without an index lookup; takes the values of `row_of` from the fourth on, and the row id."""
_INSERT_DISCOVERED = """
    INSERT INTO url (id, key, url, site, depth, display_url, hops, first_seen) VALUES (?,?,?,?,?,?,?,?)
    ON CONFLICT (key) DO UPDATE SET depth=min(depth, excluded.depth)"""
_SELECT_IDS = "SELECT key, id FROM url WHERE key IN (SELECT value FROM json_each(?))"
_HIGHEST_ID = "SELECT coalesce(max(id), 0) FROM url"
_SELECT_BY_IDS = f"{READ} id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constant texts
_SELECT_REDIRECTING = f"{READ} outcome='REDIRECTED' AND subject=?"
_SELECT_SHOWN = "SELECT key FROM url WHERE display_url=? AND display_url<>''"


class SqliteRecords(Records):
    """The statements of `Records`."""

    ALL_FINGERPRINTS = "SELECT fingerprint FROM url WHERE fingerprint<>x'' ORDER BY fingerprint"
    DELETE_SIGNATURES = "DELETE FROM near WHERE fingerprint NOT IN (SELECT fingerprint FROM url)"
    SELECT_BY_KEYS = f"{READ} key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constant texts
    HAS_DISPLAY_URLS = "SELECT 1 FROM url WHERE display_url<>'' LIMIT 1"
    SELECT_ALL = f"{READ} url>? ORDER BY url"
    SELECT_OF_OUTCOME = f"{READ} url>? AND outcome=? ORDER BY url"
    SELECT_SOME = f"{READ} indexed OR submitted ORDER BY key LIMIT ?"
    SELECT_PENDING = f"{READ} key IN (SELECT key FROM pending) ORDER BY url"  # noqa: S608 - constant texts
    SELECT_HELD = f"{READ} key IN (SELECT key FROM held) ORDER BY url"  # noqa: S608 - constant texts
    SELECT_REMOVALS = f"{READ} removal_code<>'' ORDER BY url"
    SELECT_FORGETTABLE = "SELECT key FROM url WHERE outcome='GONE' AND failures>=? AND removal_code=''"
    COUNT_VISITED = """
        SELECT outcome, count(*) FROM url
        WHERE last_fetched>=? AND id NOT IN (SELECT id FROM queue) GROUP BY outcome"""
    COUNT_BY_OUTCOME = "SELECT outcome, urls, indexed, documents FROM tally WHERE urls>0"
    COUNT_REST = """
        SELECT (SELECT count(*) FROM queue), (SELECT count(*) FROM pending),
        (SELECT count(*) FROM url WHERE removal_code<>''), (SELECT count(*) FROM held)"""
    _access: SqliteAccess
    _queue: SqliteQueue

    def __init__(self, access: SqliteAccess, source: str, queue: SqliteQueue, visits: SqliteVisits) -> None:
        """`queue` and `visits` receive the new URLs with their row ids."""
        super().__init__(access, source, queue)
        self._visits = visits

    def _highest_number(self) -> int:
        return int(self._read(_HIGHEST_ID)[0][0])

    def _keyed(self, rows: Iterable[Row]) -> Iterator[tuple[int, UrlRecord]]:
        with self._access.translated:
            for row in rows:
                yield row[0], stored_record(row, self._source)

    def _rows_with_fingerprints(self, fingerprints: list[bytes]) -> list[Row]:
        places = ", ".join("?" * len(fingerprints))
        return self._read(f"{READ} fingerprint IN ({places}) AND fingerprint<>x''", *fingerprints)

    def _with_following(self, key: int, number: int) -> dict[int, UrlRecord]:
        if ids := self._queue.row_ids.ids_from(key, number):
            return dict(self._keyed(self._read(_SELECT_BY_IDS, json.dumps(ids))))
        return self._stored_records(self._queue.keys_from(key, number))  # it is queued again, and not flushed

    def _keys_shown_as(self, url: str) -> list[int]:
        return [key for (key,) in self._read(_SELECT_SHOWN, url)]

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL."""
        return [*self._records(_SELECT_REDIRECTING, url)]

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes."""
        self._write_discovered(to)
        to.run(UPSERT, [row_of(key, site_of(record.url), record) for key, record in self._amended.items()])
        self._write_finished(to)
        super().write_changes(to)
        self._answers = self._stored_urls(self._asked) if self._asked else {}

    def _write_discovered(self, to: Writing) -> None:
        """Insert new URLs into table and queue; their row ids follow the highest one."""
        last = self._highest_number()
        found = list(enumerate(self._discovered.values(), last + 1))
        to.run(
            _INSERT_DISCOVERED,
            [
                (row_id, e.key, e.url, e.site, e.depth, e.display_url and storable(e.display_url), e.hops, t)
                for row_id, (e, t) in found
            ],
        )
        ids = {entry.key: row_id for row_id, (entry, _) in found}
        if self._read("SELECT count(*) FROM url WHERE id>?", last) == [(len(found),)]:
            self._fresh = {*ids}
        else:  # some were in the table already
            ids = dict(self._read(_SELECT_IDS, json.dumps(list(self._discovered))))
        new = (entry for entry, _ in self._discovered.values() if entry.key not in self._unqueued)
        self._queue.write_new(to, new, ids)
        self._visits.frozen.write_new(to, ids.values())

    def _write_finished(self, to: Writing) -> None:
        rows = [row_of(entry.key, entry.site, record) for entry, record in self._finished.values()]
        ids = [self._queue.row_ids.pop_id(entry.key) for entry, _ in self._finished.values()]
        known = zip(rows, ids, strict=True)
        to.run(REPLACE, [(*row[3:], row_id) for row, row_id in known if row_id])
        to.run(UPSERT, [row for row, row_id in zip(rows, ids, strict=True) if not row_id])


def row_of(key: int, site: str, r: UrlRecord) -> tuple[object, ...]:
    """Return the values for `UPSERT`."""
    cause, removal = r.cause, r.removal
    leaves = ("", "") if removal is None else (removal.reason.value, cause_text(removal.cause))
    display_url, subject, detail, etag, last_modified, language = storable_texts(
        r.display_url, cause.subject, cause.detail, r.etag, r.last_modified, r.language
    )
    return (
        key, site, r.url, r.depth, display_url, r.status_code, r.outcome.value, cause.code.value,
        subject, detail, etag, last_modified, r.checksum,
        r.indexed, r.first_seen, r.last_fetched, r.failed_runs, r.links, r.fingerprint, r.preference, r.sketch, r.hops,
        language, r.submitted, *leaves,
    )  # fmt: skip


def stored_record(row: Row, source: str) -> UrlRecord:
    """Return the record of a row selected with `READ`. Raises `ImpossibleValueError`."""
    try:
        return record_of(row, source, CODES)
    except ValueError as error:
        raise ImpossibleValueError(str(error)) from None
