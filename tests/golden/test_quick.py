"""A third of the golden traces for every `make test`: those whose pairs enter most rooms, in a minute of one processor.

Measured with two workers: 50 s of processor time, 4 of them to start. The other pairs, most kills,
the other engine, five runs, `serve` and what is said without a crawl are part of `make servers-test`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from golden import recorder
from golden.alone import COMPONENTS, alone
from golden.pairs import load_pairs
from golden.stored import assert_same, check, stored

pytestmark = pytest.mark.processes

QUICK = (
    "boundary",  # which links are followed, explained by rule
    "conditional",  # validators, bodies that are the same
    "deletion_guard",  # removal, and what is held back
    "destinations",  # several indexes and files
    "documents",  # converters
    "duplicates",  # which URL a document has
    "errors",  # statuses, broken connections, retries
    "examine",  # documents that wait for approval
    "feeds",  # expiry of entries
    "form_login",  # log-ins, cookies
    "priorities_and_logs",  # levels of the queue, all logs
    "relations",  # related URLs, texts of links
    "rewriting",  # rules for URLs
    "several_sources",  # sources that hand each other links
    "sitemaps",  # sitemaps and their parts
    "storage",  # stored responses, `reindex`
    "folder",  # files
    "table_compared",  # rows
    "smart_agent",  # an agent that lists changes, readers
    "fast_sub_collections",  # an XML file of collections
    "robot_filters",  # a portal robot with filters
)


@pytest.mark.parametrize("name", QUICK)
def test_runs(name: str, tmp_path: Path) -> None:
    check(name, recorder.runs(load_pairs()[name], tmp_path))


@pytest.mark.parametrize("name", ["boundary", "several_sources", "fast_sub_collections"])
def test_kill(name: str, tmp_path: Path) -> None:
    left = recorder.killed(load_pairs()[name], tmp_path)
    assert_same(recorder.undisturbed(stored(name), left), left)


@pytest.mark.parametrize("name", ["folder", "conditional"])
def test_a_kill_between_two_runs(name: str, tmp_path: Path) -> None:
    assert_same(recorder.second(stored(name)), recorder.killed_waiting(load_pairs()[name], tmp_path))


def test_components(tmp_path: Path) -> None:
    check("alone/together", alone(list(COMPONENTS), tmp_path))
