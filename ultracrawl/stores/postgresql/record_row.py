"""Converts records of the document table to rows; `record_of` of the state converts them back."""

from __future__ import annotations

from ultracrawl.model import Removal, UrlRecord
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.postgresql.codes import (
    CAUSE_NUMBERS,
    OUTCOME_NUMBERS,
    PURPOSE_NUMBERS,
    REMOVAL_NUMBERS,
    cause_of,
    outcome_of,
    removal_of,
)
from ultracrawl.stores.state.records import RECORD, Codes, cause_text

_COLUMNS = (
    "key bigint, number bigint, site int, url text, depth int, display_url text, status int, outcome int2, "
    "cause_code int2, subject text, detail text, etag text, last_modified text, checksum bytea, indexed bool, "
    "first_seen float8, last_fetched float8, failures int, links bytea, fingerprint bytea, preference int2, "
    "sketch bytea, hops int, language text"
)
_TYPES = dict(column.split() for column in _COLUMNS.split(", "))
_STORED = RECORD.split(", ")
_ARRAYS = ", ".join(f"%s::{kind}[]" for kind in _TYPES.values())
_SET = ", ".join(f"{name} = excluded.{name}" for name in _STORED[1:])  # the URL of a key never changes

READ_COLUMNS = f"""
    u.key, {", ".join(f"u.{name}" for name in _STORED)},
    s.key IS NOT NULL, p.key IS NOT NULL, h.key IS NOT NULL, m.reason, m.cause"""
"""The columns that `record_of` takes."""
READ_JOINS = f"""
    LEFT JOIN submitted s ON {{s}} AND s.key = u.key
    LEFT JOIN retained p ON {{p}} AND p.purpose = {PURPOSE_NUMBERS[Retained.APPROVAL]} AND p.key = u.key
    LEFT JOIN retained h ON {{h}} AND h.purpose = {PURPOSE_NUMBERS[Retained.CHANGE]} AND h.key = u.key
    LEFT JOIN removal m ON {{m}} AND m.key = u.key WHERE {{u}}"""
"""The tables in which they are, beside `url u`, about one source."""
READ = f"SELECT {READ_COLUMNS} FROM url u {READ_JOINS}"  # noqa: S608 - constant names
"""The beginning of a query whose rows `record_of` takes, about one source."""
CODES = Codes(outcome_of, cause_of, removal_of)
COLUMNS = ", ".join(_TYPES)
"""The columns of table `url` that `row_of` returns."""
UPSERT = f"""
    INSERT INTO url (source, part, {COLUMNS}) SELECT {{ids}}, * FROM unnest({_ARRAYS})
    ON CONFLICT (source, part, key) DO UPDATE SET {_SET}"""  # noqa: S608 - constant names
"""Inserts or updates rows; takes the columns of `row_of`."""


SUBMIT = """
    INSERT INTO submitted (source, part, place, key) SELECT {ids}, %s::int, * FROM unnest(%s::bigint[])
    ON CONFLICT (source, part, key) DO UPDATE SET place = excluded.place WHERE submitted.place <> excluded.place"""
"""Notes the cache in which documents are on their way to the index; takes its number and their keys."""


def row_of(key: int, number: int, site: int, r: UrlRecord) -> tuple[object, ...]:
    """Return the values for `UPSERT`; an empty one is None."""
    cause = r.cause
    return (
        key, number, site, r.url, r.depth, r.display_url or None, r.status_code, OUTCOME_NUMBERS[r.outcome],
        CAUSE_NUMBERS[cause.code] if cause else None, cause.subject or None, cause.detail or None, r.etag or None,
        r.last_modified or None, r.checksum or None, r.indexed, float(r.first_seen), float(r.last_fetched) or None,
        r.failed_runs, r.links or None, r.fingerprint or None, r.preference, r.sketch or None, r.hops,
        r.language or None,
    )  # fmt: skip


def removal_row(key: int, removal: Removal) -> tuple[int, int, str]:
    """Return a row of the table `removal`: key, reason, cause."""
    return key, REMOVAL_NUMBERS[removal.reason], cause_text(removal.cause)
