"""Documents on their way to the index that the store was not told of, because the crawler was killed before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection

from ultracrawl.stores.store import Unrecorded

_IN_QUEUE = """
    SELECT key FROM url WHERE key IN (SELECT value FROM json_each(?)) AND id IN (SELECT id FROM queue)"""
_ADOPT = "UPDATE url SET handed=1, etag='', last_modified='', checksum=x'' WHERE key=?"


def adopt(db: sqlite3.Connection, waiting: Collection[int]) -> Unrecorded:
    """See `StateStore.adopt`; part of a transaction. What was recorded is no longer in the queue."""
    query = "SELECT key, handed FROM url WHERE key IN (SELECT value FROM json_each(?))"
    handed = dict(db.execute(query, (json.dumps(list(waiting)),)).fetchall())
    doubted = [key for key, is_handed in handed.items() if not is_handed]
    known = db.execute(_IN_QUEUE, (json.dumps(doubted),)).fetchall() if doubted else []
    db.executemany(_ADOPT, known)
    return Unrecorded(tuple(key for (key,) in known), tuple(key for key in waiting if key not in handed))
