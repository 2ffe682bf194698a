"""How much of what a store holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.sqlite.record_row import outcome_of
from ultracrawl.stores.store import StateCounts

_DOCUMENTS = "SELECT count(*), coalesce(sum(indexed), 0), coalesce(sum(indexed OR handed), 0) FROM url"
_BEFORE = "SELECT count(*) FROM url WHERE (indexed OR handed) AND NOT (outcome=? AND last_fetched>=?)"
_OUTCOMES = "SELECT outcome, count(*) FROM url GROUP BY outcome"


def count_all(read: Callable[..., list[tuple[Any, ...]]]) -> StateCounts:
    """Return how many URLs are known, waiting and indexed; `read` runs a query and returns its rows."""
    ((known, indexed, documents),) = read(_DOCUMENTS)
    ((queued,),) = read("SELECT count(*) FROM queue")
    ((pending,),) = read("SELECT count(*) FROM pending")
    ((leaving,),) = read("SELECT count(*) FROM url WHERE leaving<>''")
    outcomes = {outcome_of(outcome): number for outcome, number in read(_OUTCOMES)}
    return StateCounts(known, queued, indexed, outcomes, pending, documents, leaving)


def documents_before(read: Callable[..., list[tuple[Any, ...]]], started: float) -> int:
    """Return how many documents there are of those that were there when a run started; what is leaving counts."""
    ((number,),) = read(_BEFORE, UrlOutcome.NEW.value, started)
    return int(number)
