"""Segments are merged by a task of the servers, which may take longer than any request, and says how far it is."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from index.conftest import LIBRARY, document
from support.opensearch import Open, Options, behind, send
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.merging import merge_segments
from ultracrawl.index.opensearch.server import Servers

TIMEOUT = 60.0
"""The limit of a request, by the clock of the test."""


def reply(value: object, status: int = 200) -> Reply:
    return Reply(status, (("Content-Type", "application/json"),), json.dumps(value).encode())


GOING, GONE, DONE = reply({"completed": False}), reply({}, 404), reply({"completed": True, "response": {}})
BUSY = reply({"error": {"type": "busy", "reason": "busy"}}, 503)
FULL: Json = {"type": "i_o_exception", "reason": "No space left on device"}
FAILED = reply({"completed": True, "error": FULL})
PART = {"failed": 1, "failures": [{"shard": 0, "reason": FULL}]}
FAILED_IN_PART = reply({"completed": True, "response": {"_shards": PART}})


@dataclass
class Merging:
    """A server that merges, and a clock that only pauses move on."""

    answers: list[Reply] = field(default_factory=list)
    address: str = ""
    now: float = 1000.0
    started: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def merge(self) -> None:
        servers = Servers({"url": self.address}, clock=lambda: self.now, sleep=self.sleep)
        with closing(servers):
            merge_segments(servers, "birds")

    def start(self, request: Request) -> Reply:
        self.started.append(request.path)
        return reply({"task": "n:7"})

    def answer(self, request: Request) -> Reply:
        return self.answers.pop(0) if self.answers else DONE


@pytest.fixture
def merging() -> Iterator[Merging]:
    made, server = Merging(), Site()
    server.file("/", b'{"version": {"number": "3.8.0", "distribution": "opensearch"}}', "application/json")
    server.dynamic("/birds/_forcemerge*", made.start)
    server.dynamic("/_tasks/n:7", made.answer)
    segments = {"_all": {"primaries": {"segments": {"count": 12}}}}
    server.dynamic("/birds/_stats/segments", lambda _: reply(segments))
    with server.serve() as made.address:
        yield made


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what this program says; the client of the servers may be told to say more by another test."""
    return [one.getMessage() for one in caplog.records if one.name.startswith("ultracrawl")]


def test_merging_may_take_longer_than_a_request_and_says_how_far_it_is(
    merging: Merging, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ultracrawl")
    merging.answers = [GOING] * 40
    merging.merge()
    assert merging.now - 1000 > 2 * TIMEOUT
    assert len(merging.started) == 1
    assert "wait_for_completion=false" in merging.started[0]
    said = lines_of(caplog)
    assert 5 < len(said) < 20
    assert all("12" in one for one in said)


def test_what_is_done_soon_takes_no_time_and_says_nothing(
    merging: Merging, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ultracrawl")
    merging.merge()
    assert (merging.now, lines_of(caplog)) == (1000.0, [])


def test_a_server_that_does_not_answer_for_a_while_goes_on_merging(merging: Merging) -> None:
    merging.answers = [GOING, *[BUSY] * 9, *[GOING] * 9, *[BUSY] * 9, DONE]
    merging.merge()
    assert merging.answers == []
    merging.answers = [BUSY] * 1000
    before = merging.now
    with pytest.raises(IndexStoreError):
        merging.merge()
    assert TIMEOUT < merging.now - before < 2 * TIMEOUT


@pytest.mark.parametrize(
    ("answer", "named"),
    [(FAILED, "No space left"), (FAILED_IN_PART, "No space left"), (GONE, "index optimise")],
    ids=["failed", "failed in part", "forgotten"],
)
def test_a_merge_that_failed_is_one_line(merging: Merging, answer: Reply, named: str) -> None:
    merging.answers = [GOING, answer]
    with pytest.raises(IndexStoreError) as raised:
        merging.merge()
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)
    assert merging.answers == []


@pytest.mark.servers
def test_a_real_server_merges_all_segments(opened: Open) -> None:
    index = opened()
    for one in LIBRARY:
        index.apply([one])
    index.apply([document("/heron", "changed")])
    assert index.facts().segments > 1
    index.optimise()
    facts = index.facts()
    assert (facts.segments, facts.documents) == (1, len(LIBRARY))


@pytest.mark.servers
def test_sizes_are_those_of_now(opened: Open, options: Options) -> None:
    index, sizes = opened(), []
    for one in LIBRARY:
        index.apply([one])
        sizes.append(index.facts().size)
    assert sizes == sorted(set(sizes)), "each document takes room"
    index.optimise()
    size = index.facts().size
    assert 0 < size < sizes[-1]
    (name,) = behind(options)
    segments = send("GET", f"{options['url']}/_cat/segments/{name}?format=json")
    assert isinstance(segments, list)
    assert len(segments) == 1, "nothing of the former ones is left on the disk"
