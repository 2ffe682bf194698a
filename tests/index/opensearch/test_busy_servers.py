"""How long busy servers are left alone, as far as they say it, and for how long documents are sent again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Json
from ultracrawl.index.opensearch.server import Servers

PIECE = b'{"index": {}}\n{}\n'


@dataclass
class Busy:
    """A server that gives the answers of a test, and a clock that only pauses move on."""

    replies: list[Reply] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    address: str = ""
    now: float = 1000.0
    bulks: int = 0
    limits: list[int] = field(default_factory=list)
    """The milliseconds that the server was given for bulk requests."""
    hold: threading.Event | None = None
    """Answers wait for it."""

    def servers(self, **options: Json) -> Servers:
        return Servers({"url": self.address, **options}, clock=lambda: self.now, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def answer(self, request: Request) -> Reply:
        self.bulks += 1
        given = parse_qs(urlsplit(request.path).query).get("timeout", [])
        self.limits += [int(one.removesuffix("ms")) for one in given]
        if self.hold is not None:
            self.hold.wait(60)
        return self.replies.pop(0) if self.replies else taken([201] * request.body.count(b'"index"'))


def reply(status: int, value: object, retry_after: str = "") -> Reply:
    headers = [("Content-Type", "application/json")]
    headers += [("Retry-After", retry_after)] if retry_after else []
    return Reply(status, tuple(headers), json.dumps(value).encode())


def taken(statuses: list[int], retry_after: str = "") -> Reply:
    items = [{"index": {"status": status}} for status in statuses]
    return reply(200, {"items": items}, retry_after)


def refused(status: int, retry_after: str = "") -> Reply:
    return reply(status, {"error": {"type": "busy", "reason": "busy"}}, retry_after)


@pytest.fixture
def busy() -> Iterator[Busy]:
    made, server = Busy(), Site()
    server.file("/", b'{"version": {"number": "3.8.0", "distribution": "opensearch"}}', "application/json")
    server.dynamic("/_bulk?require_alias=false*", made.answer)
    with server.serve() as made.address:
        yield made


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_is_left_alone_for_as_long_as_it_says(busy: Busy, status: int) -> None:
    busy.replies = [refused(status, "7"), taken([201, status], "3"), refused(status), taken([201])]
    with closing(busy.servers()) as servers:
        servers.write([PIECE] * 2)
    assert busy.pauses[:2] == pytest.approx([7, 3])
    assert len(busy.pauses) == 3
    assert busy.replies == []


def test_pauses_grow_up_to_a_limit(busy: Busy) -> None:
    busy.replies = [refused(429)] * 100
    with closing(busy.servers(retry=200)) as servers, pytest.raises(IndexStoreError):
        servers.write([PIECE])
    assert busy.pauses == sorted(busy.pauses)
    assert busy.pauses[0] < 1
    assert busy.pauses[-2:] == [15, 15]
    assert 180 < sum(busy.pauses) <= 200


def test_a_pause_that_is_too_long_is_no_attempt(busy: Busy) -> None:
    busy.replies = [refused(503, "300")]
    with closing(busy.servers(retry=30)) as servers:
        for _ in range(3):
            with pytest.raises(IndexStoreError):
                servers.write([PIECE])
            busy.now += 10
        assert (busy.pauses, busy.bulks) == ([], 1)
        busy.now += 260  # 290 seconds since it was asked
        servers.write([PIECE])
    assert busy.pauses == pytest.approx([10], abs=1)
    assert busy.bulks == 2


@pytest.mark.parametrize("said", ["soon", "-5", "0"])
def test_a_retry_after_that_says_nothing_changes_nothing(busy: Busy, said: str) -> None:
    busy.replies = [refused(429, said)]
    with closing(busy.servers()) as servers:
        servers.write([PIECE])
    assert len(busy.pauses) == 1
    assert busy.pauses[0] < 1


def test_an_answer_that_does_not_come_is_given_up(busy: Busy) -> None:
    server = Site()
    server.slow("/", seconds=30)
    with server.serve() as address:
        servers = Servers({"url": address, "timeout": 0.2})
        with closing(servers), pytest.raises(IndexStoreError):
            servers.ask("GET", "/_cat")


def test_no_bulk_begins_while_a_lease_may_be_over(busy: Busy) -> None:
    left = [0.0, 0.0, 9.0, 0.0, 8.0]

    def seconds_left() -> float:
        assert busy.bulks == (0 if len(left) > 2 else 1), "it is asked before each request"
        return left.pop(0)

    busy.replies = [refused(429)]
    with closing(busy.servers()) as servers:
        servers.write([PIECE], seconds_left=seconds_left)
    assert (left, busy.bulks) == ([], 2)


def test_a_lease_that_is_not_renewed_is_an_error_and_no_request(busy: Busy) -> None:
    with closing(busy.servers(retry=30)) as servers, pytest.raises(IndexStoreError):
        servers.write([PIECE], seconds_left=lambda: 0.0)
    assert busy.bulks == 0
    assert sum(busy.pauses) == pytest.approx(30, abs=1)


def test_a_bulk_ends_before_the_lease_here_and_in_the_server(busy: Busy) -> None:
    with closing(busy.servers(timeout=50)) as servers:
        for left in (7.0, 100.0):
            servers.write([PIECE], seconds_left=lambda left=left: left)
    assert busy.limits == [7000, 50_000]
    busy.hold = threading.Event()
    with closing(busy.servers()) as servers, pytest.raises(IndexStoreError):
        servers.write([PIECE], seconds_left=lambda: 0.2)
    busy.hold.set()
