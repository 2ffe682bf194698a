"""The report on query statistics: what `ultracrawl queries --json` and the API show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from ultracrawl.service.statistics.counts import PAGE, DayCounts, OriginCounts, QueryCounts
from ultracrawl.service.statistics.store import DamagedStatisticsError, QueryStore, days_until

LEAST_SHOWN = 3
"""The smallest count that is shown: fewer searches may be those of one person."""
LEAST_SUGGESTED = 10
"""Searches from which on a query is suggested to others."""
_MOST_SUGGESTED = 1000
DEFAULT_DAYS = 30
MAX_DAYS = 1000


def query_report(
    store: QueryStore,
    today: date,
    *,
    days: int = DEFAULT_DAYS,
    origin: str = "",
    without_answers: bool = False,
    limit: int = 100,
) -> dict[str, Any]:
    """Return the report on the last days, today included, as a JSON object.

    `origin` is `page`, `api`, or `key:NAME` of a public key; empty: all. With `without_answers` the queries are those
    that found nothing, the most frequent first. Numbers below `LEAST_SHOWN` are null, except 0, and queries with fewer
    searches are left out. Days whose file is damaged are in `damaged`. Raises `WorkError`.
    """
    wanted = days_until(today, days)
    damaged = {day for day in store.damaged_days() if wanted[0] <= day <= today}
    total, rows = DayCounts(), []
    for day in wanted:
        try:
            found = store.read(day)
        except DamagedStatisticsError:
            damaged.add(day)
            continue
        total.add(found)
        if found:
            rows.append({"day": day.isoformat(), **_numbers(_sum_of(found, origin).total)})
    queries = _sum_of(total, origin).queries
    return {
        "from": wanted[0].isoformat(),
        "to": today.isoformat(),
        "origins": [
            {"origin": name, **_numbers(counts.total)}
            for name, counts in sorted(total.items())
            if counts.total.searches >= LEAST_SHOWN
        ],
        "days": rows,
        "queries": list(_query_rows(queries, limit, without_answers=without_answers)),
        "damaged": [day.isoformat() for day in sorted(damaged)],
    }


def frequent_queries(store: QueryStore, today: date) -> list[str]:
    """Return the queries of the search page that may be shown to everybody, the most frequent first.

    Each was asked `LEAST_SUGGESTED` times in the last days, and mostly found something. Raises `WorkError`.
    """
    rows = query_report(store, today, origin=PAGE, limit=_MOST_SUGGESTED)["queries"]
    often = (row for row in rows if row["searches"] >= LEAST_SUGGESTED)
    return [row["query"] for row in often if 2 * (row["without_answers"] or 0) < row["searches"]]


def _sum_of(days: DayCounts, origin: str) -> OriginCounts:
    total = OriginCounts()
    for name, counts in days.items():
        if origin in ("", name):
            total.total.add(counts.total)
            for text, one in counts.queries.items():
                total.queries.setdefault(text, QueryCounts()).add(one)
    return total


def _query_rows(
    queries: Mapping[str, QueryCounts], limit: int, *, without_answers: bool
) -> Iterable[dict[str, Any]]:
    def times(counts: QueryCounts) -> int:
        return counts.without_answers if without_answers else counts.searches

    shown = [(text, counts) for text, counts in queries.items() if times(counts) >= LEAST_SHOWN]
    shown.sort(key=lambda one: (-times(one[1]), one[0]))
    for text, counts in shown[:limit]:
        clicks = counts.clicks.total()
        positions = [
            {"position": position, "clicks": number}
            for position, number in sorted(counts.clicks.items())
            if number >= LEAST_SHOWN
        ]
        mean = sum(position * number for position, number in counts.clicks.items()) / max(1, clicks)
        yield {
            "query": text,
            **_numbers(counts),
            "mean_position": round(mean, 1) if clicks >= LEAST_SHOWN else None,
            "positions": positions,
        }


def _numbers(counts: QueryCounts) -> dict[str, int | None]:
    return {
        "searches": _shown(counts.searches),
        "without_answers": _shown(counts.without_answers),
        "clicks": _shown(counts.clicks.total()),
    }


def _shown(number: int) -> int | None:
    return number if number >= LEAST_SHOWN or not number else None
