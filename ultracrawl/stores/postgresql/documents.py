"""The statements of documents: tables `retained`, `expiry`, `copy` and `submitted`, and marks in `url`."""

from __future__ import annotations

from collections.abc import Collection

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.postgresql.access.fencing import is_over
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS
from ultracrawl.stores.postgresql.part_base import StoreAccess
from ultracrawl.stores.postgresql.record_row import SUBMIT
from ultracrawl.stores.state.documents import Documents
from ultracrawl.stores.state.part import Writing

_PENDING, _SUCCESSOR = PURPOSE_NUMBERS[Retained.APPROVAL], PURPOSE_NUMBERS[Retained.REPLACEMENT]
_CLEAR = "UPDATE url u SET etag = NULL, last_modified = NULL, checksum = NULL"
_CLEAR_OF = f"{_CLEAR} WHERE {{u}} AND key = ANY(%s)"
_DELETE_SUBMITTED = "DELETE FROM submitted WHERE {own} AND key = ANY(%s)"
_ADD_PLACE = b"INSERT INTO place (name) VALUES (%s) ON CONFLICT DO NOTHING"
_PLACE = b"SELECT place FROM place WHERE name = %s"
_LAST_PLACE = "SELECT place FROM part WHERE {own}"
_KEEP_PLACE = "UPDATE part SET place = %s WHERE {own} AND place <> %s"
_SUBMITTED_AT = "SELECT key FROM submitted WHERE {own} AND place = %s AND key = ANY(%s)"
_LIVING_PLACES = b"""
    SELECT place.place, machine, process FROM place JOIN node ON node.told::json ->> 'place' = place.name
    WHERE token IS NOT NULL AND until > moment()"""
_KEPT = f"""
    SELECT key FROM url WHERE {{{{own}}}} AND (indexed{{also}})
    UNION SELECT key FROM submitted WHERE {{{{own}}}}
    UNION SELECT key FROM retained WHERE {{{{own}}}} AND purpose IN ({_PENDING}, {_SUCCESSOR})"""  # noqa: S608 - constant texts
_DUPLICATES = f" OR outcome = {OUTCOME_NUMBERS[UrlOutcome.DUPLICATE]} AND fingerprint IS NOT NULL"


def _of_each(statement: str) -> dict[Retained, str]:
    """Return a statement about the rows of each purpose, `PURPOSE` in it."""
    return {purpose: statement.replace("PURPOSE", str(PURPOSE_NUMBERS[purpose])) for purpose in Retained}


class PostgresDocuments(Documents):
    """The statements of `Documents`, and in which cache of a machine each submitted one waits."""

    _access: StoreAccess
    SELECT_RETAINED = _of_each(
        "SELECT key, document FROM retained WHERE {own} AND purpose = PURPOSE AND key = ANY(%s)"
    )
    SELECT_AHEAD = _of_each("""
        SELECT key, CASE WHEN key = %s OR octet_length(document) <= %s THEN document END FROM retained
        WHERE {own} AND purpose = PURPOSE AND key = ANY(%s)""")
    RETAINED_KEYS = _of_each("""
        SELECT p.key FROM retained p JOIN url u ON {u} AND u.key = p.key WHERE {p} AND p.purpose = PURPOSE
        ORDER BY u.depth, u.url""")
    PUT_RETAINED = _of_each("""
        INSERT INTO retained (source, part, key, document, purpose)
        SELECT {ids}, t.*, PURPOSE FROM unnest(%s::bigint[], %s::bytea[]) t
        ON CONFLICT (source, part, purpose, key) DO UPDATE SET document = excluded.document""")
    DELETE_RETAINED = _of_each("DELETE FROM retained WHERE {own} AND purpose = PURPOSE AND key = ANY(%s)")
    SELECT_KEPT = _KEPT.format(also="")
    SELECT_KEPT_AND_DUPLICATES = _KEPT.format(also=_DUPLICATES)
    COUNT_BEFORE = f"""
        SELECT count(*) FROM url u LEFT JOIN submitted s ON {{s}} AND s.key = u.key
        WHERE {{u}} AND (u.indexed OR s.key IS NOT NULL)
        AND NOT (u.outcome = {OUTCOME_NUMBERS[UrlOutcome.NEW]} AND coalesce(u.last_fetched, 0) >= %s)"""  # noqa: S608 - constant texts
    SELECT_STAND = """
        SELECT u.key, s.key IS NOT NULL, EXISTS (SELECT FROM queue q WHERE {q} AND q.key = u.key) FROM url u
        LEFT JOIN submitted s ON {s} AND s.key = u.key WHERE {u} AND u.key = ANY(%s)"""
    UPDATE_INDEXED = """
        UPDATE url u SET indexed = t.indexed FROM unnest(%s::bigint[], %s::bool[]) t(key, indexed)
        WHERE {u} AND u.key = t.key"""
    CLEAR_VALIDATORS = f"""
        {_CLEAR} WHERE {{u}} AND (indexed OR EXISTS (SELECT FROM submitted s WHERE {{s}} AND s.key = u.key))"""
    MARK_LOST = f"{_CLEAR}, indexed = false WHERE {{u}} AND key = ANY(%s)"
    MEET_AGAIN = "UPDATE revisit SET seen = 0 WHERE {own} AND key = ANY(%s)"

    def open_place(self, name: str) -> bool:
        """Look up the number of the cache, giving a new one to a new cache."""
        rows = self._access.database.read(_PLACE, name)
        if not rows:
            self._access.database.read(_ADD_PLACE, name)
            rows = self._access.database.read(_PLACE, name)
        self._access.place = int(rows[0][0])
        return self._read(_LAST_PLACE)[0][0] not in (0, self._access.place)

    def submitted_here(self, keys: Collection[int]) -> frozenset[int]:
        """Return the keys whose rows name this cache."""
        return frozenset(key for (key,) in self._read(_SUBMITTED_AT, self._access.place, list(keys)))

    def keep_place(self) -> None:
        """Note the cache in the row of the writer."""
        place = self._access.place
        if place and self._read(_LAST_PLACE) != [(place,)]:
            self._access.write(lambda to: to.execute(_KEEP_PLACE, (place, place)))

    def note_submitted(self, key: int) -> None:
        """Have the next row of the document name this cache."""
        self._access.elsewhere.discard(key)

    def _living_places(self) -> set[int]:
        rows = self._access.database.read(_LIVING_PLACES)
        return {place for place, machine, process in rows if not is_over(machine, process)}

    def _lost_documents(self, waiting: frozenset[int]) -> list[int]:
        submitted = self._read("SELECT key, place FROM submitted WHERE {own} ORDER BY key")
        own = {0, self._access.place}
        living = self._living_places() if any(place not in own for _, place in submitted) else set()
        elsewhere = {key for key, place in submitted if place not in own and place in living}
        self._access.elsewhere = elsewhere
        return [
            key
            for key, place in submitted
            if key not in elsewhere and (place not in own or key not in waiting)
        ]

    def _mark_lost(self, to: Writing, keys: list[tuple[int]]) -> None:
        super()._mark_lost(to, keys)
        to.run(_DELETE_SUBMITTED, keys)

    def _mark_submitted(self, to: Writing, keys: list[int]) -> None:
        to.execute(SUBMIT, (self._access.place, keys))
        to.execute(_CLEAR_OF, (keys,))

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes, after the records."""
        to.run(_DELETE_SUBMITTED, [(key,) for key in self._marks])
        super().write_changes(to)
