"""Fills the queue for a new cycle: what is requested, in which order, on which level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import psycopg

from ultracrawl.dataclass import dataclass
from ultracrawl.model import UrlOutcome
from ultracrawl.model.cause import RECHECKED_REMOVALS
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.queue import QueueStart
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS, REMOVAL_NUMBERS
from ultracrawl.stores.postgresql.visits import NO_SITEMAP
from ultracrawl.stores.state.queue import LEFTOVERS, Leftovers

T = TypeVar("T")

_ROWS = 200_000
"""Number of rows of a statement."""
_HELD = PURPOSE_NUMBERS[Retained.CHANGE]
_RECHECKED = ", ".join(str(REMOVAL_NUMBERS[reason]) for reason in sorted(RECHECKED_REMOVALS))
_NOT_QUEUED = "NOT EXISTS (SELECT FROM queue q WHERE {q} AND q.key = u.key)"
_DELETE_UNKNOWN = (
    "DELETE FROM queue q WHERE {q} AND NOT EXISTS (SELECT FROM url u WHERE {u} AND u.key = q.key)"
)
_LEFTOVERS = {
    Leftovers.FIRST: "UPDATE queue SET rank = rank - 1 - (SELECT max(rank) FROM queue WHERE {own}) WHERE {own}",
    Leftovers.LAST: "UPDATE queue SET rank = rank + 1 - (SELECT min(rank) FROM queue WHERE {own}) WHERE {own}",
    Leftovers.DROPPED: f"""
        DELETE FROM queue q WHERE {{q}} AND NOT EXISTS (
            SELECT FROM url u WHERE {{u}} AND u.key = q.key
            AND u.outcome = {OUTCOME_NUMBERS[UrlOutcome.QUEUED]} AND u.last_fetched IS NOT NULL)""",  # noqa: S608 - constant texts
}
_LAST_SEQ = "SELECT coalesce(max(seq), 0) FROM queue WHERE {own}"
_ONE_LEVEL = "UPDATE queue SET level = 1 WHERE {own} AND level <> 1"
_SELECT_LEFTOVERS = "SELECT q.key, u.url FROM queue q JOIN url u ON {u} AND u.key = q.key WHERE {q}"
_SET_LEVELS = """
    UPDATE queue q SET level = t.level FROM unnest(%s::bigint[], %s::int[]) t(key, level)
    WHERE {q} AND q.key = t.key AND q.level <> t.level"""
_TO_RECHECK = f"""
    (EXISTS (SELECT FROM retained h WHERE {{h}} AND h.purpose = {_HELD} AND h.key = u.key) OR EXISTS (
        SELECT FROM removal m WHERE {{m}} AND m.key = u.key AND m.reason = ANY(ARRAY[{_RECHECKED}])))"""  # noqa: S608 - constants
_ENQUEUE = """
    INSERT INTO queue (source, part, site, level, rank, depth, seq, key)
    SELECT {{ids}}, u.site, 1, 0, u.depth, %s + row_number() OVER (ORDER BY u.depth, u.number), u.key FROM url u
    WHERE {{u}} AND {condition} AND {not_queued}"""
_SELECT_TO_ENQUEUE = "SELECT u.key, u.url FROM url u WHERE {{u}} AND {condition}"
_ENQUEUE_CHOSEN = f"""
    INSERT INTO queue (source, part, site, level, rank, depth, seq, key)
    SELECT {{ids}}, u.site, 1, t.rank, u.depth, %s + t.rank, u.key
    FROM unnest(%s::bigint[], %s::bigint[]) t(key, rank) JOIN url u ON {{u}} AND u.key = t.key WHERE {_NOT_QUEUED}
    ON CONFLICT DO NOTHING"""  # noqa: S608 - constant texts
_MARK_WAITING_SEEN = """
    INSERT INTO revisit (source, part, key, seen) SELECT DISTINCT source, part, key, %s::int FROM queue WHERE {own}
    ON CONFLICT (source, part, key) DO UPDATE SET seen = excluded.seen"""


@dataclass(frozen=True, slots=True)
class Filling:
    """What a new cycle begins with; it is chosen before the transaction, which must not wait for anything."""

    place: CyclePlace
    chosen: Sequence[int]
    """Keys of an adaptive cycle, best first."""
    levels: Sequence[tuple[int, int]]
    """Key and level of each URL that is not on level 1, if there are several."""


def prepare_filling(database: SourceDatabase, place: CyclePlace, start: QueueStart) -> Filling:
    """Choose the URLs of an adaptive cycle, and find the levels of all that may be queued."""
    adaptive = place.mode is RefreshMode.ADAPTIVE and start.choose is not None
    chosen = list(start.choose(place)) if adaptive and start.choose is not None else []
    levels = _levels(database, place, chosen, start.level_of) if start.level_of is not None else []
    return Filling(place, chosen, levels)


def _levels(
    database: SourceDatabase, place: CyclePlace, chosen: Sequence[int], level_of: Callable[[str], int]
) -> list[tuple[int, int]]:
    """Return key and level of the URLs that are queued, or will be."""
    wanted = [_SELECT_LEFTOVERS, _SELECT_TO_ENQUEUE.format(condition=_TO_RECHECK)]
    if place.mode is RefreshMode.KNOWN:
        wanted[1] = _SELECT_TO_ENQUEUE.format(condition=NO_SITEMAP)
    found = {key: level_of(url) for query in wanted for key, url in database.stream(database.sql(query))}
    query = database.sql("SELECT key, url FROM url WHERE {own} AND key = ANY(%s)")
    for keys in _pieces(chosen):
        found.update((key, level_of(url)) for key, url in database.read(query, keys))
    return sorted(found.items())


def fill_queue(db: psycopg.Connection, database: SourceDatabase, filling: Filling) -> None:
    """Fill the queue for a new cycle, inside a transaction; start URLs are added later.

    Documents whose removal or new version was held back are requested in every mode, so that no old response decides.
    """
    sql, mode = database.sql, filling.place.mode

    def last() -> int:
        return int(db.execute(sql(_LAST_SEQ)).fetchall()[0][0])

    db.execute(sql(_DELETE_UNKNOWN))
    db.execute(sql(_LEFTOVERS[LEFTOVERS[mode]]))
    if mode is RefreshMode.KNOWN:
        db.execute(sql(_ENQUEUE.format(condition=NO_SITEMAP, not_queued=_NOT_QUEUED)), [last()])
    else:
        after = last()
        for rows in _pieces([(key, rank) for rank, key in enumerate(filling.chosen, 1)]):
            keys, ranks = map(list, zip(*rows, strict=True))
            db.execute(sql(_ENQUEUE_CHOSEN), [after, keys, ranks])
        db.execute(sql(_ENQUEUE.format(condition=_TO_RECHECK, not_queued=_NOT_QUEUED)), [last()])
        db.execute(sql(_MARK_WAITING_SEEN), [filling.place.cycle])
    if not filling.levels:
        db.execute(sql(_ONE_LEVEL))
    for levels in _pieces(filling.levels):
        db.execute(sql(_SET_LEVELS), list(map(list, zip(*levels, strict=True))))


def _pieces(rows: Sequence[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while piece := list(islice(left, _ROWS)):
        yield piece
