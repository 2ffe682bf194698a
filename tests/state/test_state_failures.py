"""Errors of URLs, and documents that are to leave, in the state store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.urls import site_of, url_key
from ultracrawl.stores import QueueEntry, SqliteState

URL = "http://h/a"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def known(state: SqliteState, url: str = URL) -> int:
    key = url_key(url)
    state.discover(QueueEntry(key, url, site_of(url), 0, state.next_seq()), 1.0)
    state.flush()
    return key


def test_errors_are_counted_by_rule_and_survive(path: Path) -> None:
    state = SqliteState(path, "s")
    key = known(state)
    assert [state.failures.count(key, "5xx"), state.failures.count(key, "5xx")] == [1, 2]
    assert state.failures.count(key, "net") == 1
    state.close()
    state = SqliteState(path, "s")
    assert state.failures.count(key, "5xx") == 3
    state.failures.forget(key)
    assert state.failures.count(key, "5xx") == 1
    state.close()
    state = SqliteState(path, "s")
    assert (state.failures.count(key, "5xx"), state.failures.count(key, "net")) == (2, 1)
    state.close()


def test_what_was_not_flushed_is_as_it_was_before(path: Path) -> None:
    state = SqliteState(path, "s")
    key = known(state)
    state.failures.count(key, "net")
    state.flush()
    state.failures.forget(key)
    reader = SqliteState(path, "s", read_only=True)
    assert reader.failures.count(key, "net") == 2
    reader._db.close()
    state.close()


def test_errors_of_dropped_urls_are_forgotten(path: Path) -> None:
    state = SqliteState(path, "s")
    key = known(state)
    state.failures.count(key, "net")
    state.drop([key])
    known(state)
    assert state.failures.count(key, "net") == 1
    state.close()


def test_documents_that_are_to_leave_are_listed_and_kept(path: Path) -> None:
    state = SqliteState(path, "s")
    key = known(state)
    gone = replace(
        state.get(key), outcome=UrlOutcome.GONE, indexed=True, leaving="GONE: not found", failures=9
    )  # type: ignore[type-var]
    state.amend(key, gone)
    state.flush()
    assert [record.leaving for record in state.leaving_records()] == ["GONE: not found"]
    assert (state.counts().leaving, gone.held) == (1, False)
    assert state.orphans() == set(), "as long as the document is in the index"
    state.amend(key, replace(gone, leaving="", indexed=False))
    state.flush()
    assert (list(state.leaving_records()), state.orphans()) == ([], {key})
    state.close()
