"""Errors of URLs, and documents that are to leave, in the state store."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from stores.conftest import Place

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.stores import QueueEntry, Store

URL = "http://h/a"


def known(state: Store, url: str = URL) -> int:
    key = url_key(url)
    state.records.discover_url(QueueEntry(key, url, site_of(url), 0, state.queue.next_seq()), 1.0)
    state.flush()
    return key


def test_errors_are_counted_by_rule_and_survive(kept: Place) -> None:
    state = kept.open()
    key = known(state)
    assert [state.visits.count_failure(key, "5xx"), state.visits.count_failure(key, "5xx")] == [1, 2]
    assert state.visits.count_failure(key, "net") == 1
    state.close()
    state = kept.open()
    assert state.visits.count_failure(key, "5xx") == 3
    state.visits.forget_failures(key)
    assert state.visits.count_failure(key, "5xx") == 1
    state.close()
    state = kept.open()
    assert (state.visits.count_failure(key, "5xx"), state.visits.count_failure(key, "net")) == (2, 1)
    state.close()


def test_errors_of_many_urls_are_kept_apart(kept: Place) -> None:
    state, keys, rules = kept.open(), range(1, 9), ("5xx", "net", "timeout")
    for key in keys:
        state.records.discover_url(QueueEntry(key, f"http://h/{key}", "h", 0, key), 1.0)
    dice, counted = random.Random(3), Counter[tuple[int, str]]()
    for number in range(200):
        key, rule = dice.choice(keys), dice.choice(rules)
        if number % 9 == 4:
            state.visits.forget_failures(key)
            counted.subtract({pair: errors for pair, errors in counted.items() if pair[0] == key})
        else:
            counted[key, rule] += 1
            assert state.visits.count_failure(key, rule) == counted[key, rule]
        if number % 7 == 3:
            state.flush()
        if number % 40 == 39:
            state.close()
            state = kept.open()


def test_what_was_not_flushed_is_as_it_was_before(kept: Place) -> None:
    def work(state: Store) -> None:
        key = known(state)
        state.visits.count_failure(key, "net")
        state.flush()
        state.visits.forget_failures(key)

    kept.killed(work)
    assert kept.open().visits.count_failure(url_key(URL), "net") == 2


def test_errors_of_dropped_urls_are_forgotten(kept: Place) -> None:
    state = kept.open()
    key = known(state)
    state.visits.count_failure(key, "net")
    state.drop_urls([key])
    known(state)
    assert state.visits.count_failure(key, "net") == 1
    state.close()


def test_documents_that_are_to_leave_are_listed_and_kept(kept: Place) -> None:
    state = kept.open()
    key = known(state)
    gone = replace(
        state.records.get_record(key),
        outcome=UrlOutcome.GONE,
        indexed=True,
        removal=Removal(RemovalReason.GONE, Cause(CauseCode.STATUS, "404")),
        failed_runs=9,
    )  # type: ignore[type-var]
    state.records.amend_record(key, gone)
    state.flush()
    assert [record.removal for record in state.records.records_to_remove()] == [gone.removal]
    assert (state.records.count_urls().removals, gone.retained) == (1, False)
    assert state.records.forgettable_urls() == set(), "as long as the document is in the index"
    state.records.amend_record(key, replace(gone, removal=None, indexed=False))
    state.flush()
    assert (list(state.records.records_to_remove()), state.records.forgettable_urls()) == ([], {key})
    state.close()
