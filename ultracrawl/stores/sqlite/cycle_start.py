"""What the queue of a new cycle begins with: the SQL behind the refresh modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.model.cause import RECHECKED
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.port.queue import QueueStart

if TYPE_CHECKING:
    import sqlite3

_LEFT_FIRST = "UPDATE queue SET rank=rank-1-(SELECT max(rank) FROM queue)"
_LEFT_LAST = "UPDATE queue SET rank=rank+1-(SELECT min(rank) FROM queue)"
_EMPTY = """
    DELETE FROM queue WHERE id NOT IN (SELECT id FROM url WHERE outcome='QUEUED' AND last_fetched>0)"""
"""What somebody restored was fetched once, and is to be fetched by the next run whatever its mode."""
_FORGOTTEN = "DELETE FROM queue WHERE id NOT IN (SELECT id FROM url)"
_LEFT_OVER = {
    RefreshMode.KNOWN: _LEFT_FIRST,
    RefreshMode.APPEND: _LEFT_FIRST,
    RefreshMode.PREPEND: _LEFT_LAST,
    RefreshMode.SCRATCH: _EMPTY,
    RefreshMode.SOFT: _LEFT_FIRST,
    RefreshMode.ADAPTIVE: _EMPTY,
}
"""What becomes of the queue that the cycle before left over; what comes later has rank 0."""

_RELEVEL = "UPDATE queue SET level=(SELECT level_of(url) FROM url WHERE url.id=queue.id)"
"""What was left over goes by the levels of today."""

_ALL_KNOWN = """
    INSERT INTO queue (site, level, depth, seq, id)
    SELECT site, level_of(url), depth, ? + row_number() OVER (ORDER BY depth, id), id FROM url
    WHERE key NOT IN (SELECT key FROM sitemap) AND id NOT IN (SELECT id FROM queue)"""
_CHOSEN = """
    INSERT INTO queue (site, level, rank, depth, seq, id)
    SELECT site, level_of(url), ?, depth, ?, id FROM url WHERE key=? AND id NOT IN (SELECT id FROM queue)"""
_HELD_BACK = f"""
    INSERT INTO queue (site, level, depth, seq, id)
    SELECT site, level_of(url), depth, ? + row_number() OVER (ORDER BY depth, id), id FROM url
    WHERE removal_code<>'' AND removal_code IN {tuple(map(str, sorted(RECHECKED)))}
    AND id NOT IN (SELECT id FROM queue)"""  # noqa: S608 - constant texts
_WAITING_IS_SEEN = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM queue WHERE true
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"""


def fill_queue(db: sqlite3.Connection, place: CyclePlace, start: QueueStart) -> None:
    """Make the queue that a new cycle begins with; called inside a transaction, start URLs come later.

    Documents that were held back from leaving are asked for in every mode, so that none leaves by an old answer.

    Within a site and level, entries of a lower rank go first, then those of a lower depth, then the older ones.
    """
    db.create_function("level_of", 1, start.level_of or _one_level, deterministic=True)
    db.execute(_FORGOTTEN)  # their places may be given to others
    db.execute(_LEFT_OVER[place.mode])
    db.execute(_RELEVEL)
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM queue").fetchone()
    if place.mode is RefreshMode.KNOWN:
        db.execute(_ALL_KNOWN, (last,))
    elif place.mode is RefreshMode.ADAPTIVE and start.choose is not None:
        keys = enumerate(start.choose(place), 1)
        db.executemany(_CHOSEN, [(rank, last + rank, key) for rank, key in keys])
    if place.mode is not RefreshMode.KNOWN:
        (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM queue").fetchone()
        db.execute(_HELD_BACK, (last,))
        db.execute(_WAITING_IS_SEEN, (place.cycle,))


def _one_level(_: str) -> int:
    return 1
