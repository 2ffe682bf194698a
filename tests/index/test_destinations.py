"""What documents go to besides our indexes: one contract for all, then what each promises of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.free_port import free_port
from support.memory_index import MemoryIndex
from support.resource import Reply
from support.sentences import sentence
from support.server import Request, Server
from support.until import until

from ultracrawl.errors import UserError, WorkError
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.destinations import Batch, Destination, EngineDestination
from ultracrawl.index.destinations.destination_config import DestinationConfig, open_destination
from ultracrawl.index.destinations.http_push import HttpPush
from ultracrawl.index.destinations.json_lines import JsonLines
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.index.writing.segments import Committed, Failed, Report, deliver_segment
from ultracrawl.model.page import Section

from .conftest import ATTRIBUTES, document

LOOPBACK = ["127.0.0.0/8"]
OPTIONS: dict[str, Any] = {
    "documents": 500, "size": 1 << 20, "timeout": 10.0, "retry": 60.0, "networks": LOOPBACK,
}  # fmt: skip


@dataclass
class Receiver:
    """A web server that answers what it is told to, else 204, and keeps every request."""

    answers: list[Reply] = field(default_factory=list)
    came: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> Reply:
        self.came.append(request)
        return self.answers.pop(0) if self.answers else Reply(204)

    @property
    def keys(self) -> list[str | None]:
        return [request.header("Idempotency-Key") for request in self.came]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for request in self.came for line in request.body.splitlines()]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def url(receiver: Receiver) -> Iterator[str]:
    server = Server(receiver.answer)
    server.start()
    yield f"{server.url}/documents?token=s3cret"
    server.stop()


@dataclass
class Clock:
    """A clock that only sleeping moves."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def push(url: str, clock: Clock | None = None, **options: object) -> HttpPush:
    clock = clock or Clock()
    return HttpPush("portal", {**OPTIONS, "url": url, **options}, clock=clock, sleep=clock.sleep)  # type: ignore[dict-item]


def batch(*changes: Change, key: str = "1") -> Batch:
    return Batch(key, list(changes))


def replayed(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the titles of the documents that somebody has who does what the lines say."""
    held: dict[str, str] = {}
    for row in rows:
        if row["action"] == "put":
            held[row["url"]] = row["title"]
        elif row["action"] == "delete":
            held.pop(row["url"], None)
    return held


def lines_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# ---- the contract of all


Held = Callable[[], dict[str, str]]


@pytest.fixture(params=["index", "jsonl", "http"])
def kind(
    request: pytest.FixtureRequest, tmp_path: Path, receiver: Receiver, url: str
) -> Iterator[tuple[Destination, Held]]:
    """Return a destination, and what tells what somebody finds there."""
    index, path = MemoryIndex(ATTRIBUTES), tmp_path / "export.jsonl"
    destination: Destination
    held: Held
    match request.param:
        case "index":
            destination, held = (
                EngineDestination(index),
                lambda: {one.url: one.title for one in index.documents()},
            )
        case "jsonl":
            destination, held = JsonLines("export", {"path": str(path)}), lambda: replayed(lines_in(path))
        case _:
            destination, held = push(url), lambda: replayed(receiver.rows)
    yield destination, held
    destination.close()


def test_documents_are_put_replaced_and_deleted_in_order(kind: tuple[Destination, Held]) -> None:
    destination, held = kind
    first = batch(document("/a", title="A"), document("/b", title="B"), Deletion("s", "/never"))
    assert destination.deliver(first) == 2
    second = batch(
        document("/a", title="A2"), Deletion("s", "/b"), NewAnchors("s", "/a", ("see a",)), key="2"
    )
    assert destination.deliver(second) == 1
    destination.maintain()
    assert held() == {"/a": "A2"}


def test_what_comes_again_changes_nothing(kind: tuple[Destination, Held]) -> None:
    destination, held = kind
    batches = [
        batch(document("/a", title="A"), document("/b", title="B")),
        batch(Deletion("s", "/a"), document("/b", title="B2"), key="2"),
        batch(document("/a", title="A3"), key="3"),
    ]
    for end in (1, 2, 3):  # each time from the beginning, as after a kill
        for one in batches[:end]:
            destination.deliver(Batch(one.key, list(one.changes)))
    assert held() == {"/a": "A3", "/b": "B2"}


# ---- lines


def test_a_line_says_everything_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "export.jsonl"
    dated = datetime(2024, 5, 1, 23, 30, tzinfo=UTC)
    whole = IndexDocument(
        "s",
        "/a",
        "Ü",
        "text",
        {"Author": ["Lee"], "Size": [3], "LastModifiedDate": [dated]},
        True,
        ("see a",),
        (("eggs", "nest"),),
        (Section(0, 2, "eggs", "Eggs"),),
        ("ann", "staff"),
        3,
    )
    called = NewAnchors("s", "/b", ("b", "c"))
    changes = batch(whole, called, Deletion("s", "/c"), NewAnchors("s", "/d", (), (("x", "y"),)))
    JsonLines("export", {"path": str(path)}).deliver(changes)
    attributes = {"Author": ["Lee"], "Size": [3], "LastModifiedDate": [{"date": "2024-05-01T23:30:00+00:00"}]}
    assert lines_in(path) == [
        {
            "action": "put", "source": "s", "url": "/a", "title": "Ü", "text": "text", "attributes": attributes,
            "anchors": ["see a"], "nosnippet": True, "section_anchors": [["eggs", "nest"]],
            "sections": [[0, 2, "eggs", "Eggs"]], "acl": ["ann", "staff"], "depth": 3,
        },
        {"action": "anchors", "source": "s", "url": "/b", "anchors": ["b", "c"]},
        {"action": "delete", "source": "s", "url": "/c"},
        {"action": "anchors", "source": "s", "url": "/d", "anchors": [], "section_anchors": [["x", "y"]]},
    ]  # fmt: skip


@pytest.mark.parametrize("torn", [b'{"action": "put", "url": "/tor', b"x" * 200_000], ids=["short", "long"])
def test_a_line_that_a_crash_cut_off_is_taken_away(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "export.jsonl"
    destination = JsonLines("export", {"path": str(path)})
    destination.deliver(batch(document("/a")))
    with path.open("ab") as file:
        file.write(torn)
    destination.deliver(batch(document("/b"), key="2"))
    assert [row["url"] for row in lines_in(path)] == ["/a", "/b"]


def test_a_full_disk_leaves_no_torn_line(tmp_path: Path) -> None:
    """The limit of file sizes stands for the disk: a write that goes beyond takes what fits, then fails."""
    path, program = (
        tmp_path / "export.jsonl",
        (
            "import resource, signal, sys\n"
            "from ultracrawl.errors import WorkError\n"
            "from ultracrawl.index import IndexDocument\n"
            "from ultracrawl.index.destinations import Batch\n"
            "from ultracrawl.index.destinations.json_lines import JsonLines\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
            "export = JsonLines('export', {'path': sys.argv[1]})\n"
            "export.deliver(Batch('1', [IndexDocument('s', '/a', 'A', 'x' * 2000)]))\n"
            "try:\n"
            "    export.deliver(Batch('2', [IndexDocument('s', '/b', 'B', 'x' * 2000)]))\n"
            "except WorkError as error:\n"
            "    print(error)\n"
        ),
    )
    ran = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert ran.stdout == f"{path} {sentence('files.too_large')}\n"
    assert [row["url"] for row in lines_in(path)] == ["/a"]


def test_a_file_that_was_moved_away_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    destination = JsonLines("export", {"path": str(path)})
    destination.deliver(batch(document("/a")))
    path.rename(tmp_path / "taken.jsonl")
    destination.deliver(batch(document("/b"), key="2"))
    assert [row["url"] for row in lines_in(path)] == ["/b"]


# ---- HTTP


def test_a_request_has_lines_a_type_and_what_is_secret(receiver: Receiver, url: str) -> None:
    destination = push(url, headers={"X-Api-Key": "k"}, user="crawler", password="pw")
    destination.deliver(batch(document("/a"), Deletion("s", "/b")))
    destination.close()
    (request,) = receiver.came
    assert (request.method, request.path) == ("POST", "/documents?token=s3cret")
    assert request.header("Content-Type") == "application/x-ndjson"
    assert request.header("X-Api-Key") == "k"
    assert b64decode(str(request.header("Authorization")).removeprefix("Basic ")) == b"crawler:pw"
    assert [row["action"] for row in receiver.rows] == ["put", "delete"]


def test_requests_are_bounded_in_documents_and_bytes(receiver: Receiver, url: str) -> None:
    some = [document(f"/{number}") for number in range(5)]
    push(url, documents=2).deliver(batch(*some))
    assert [len(request.body.splitlines()) for request in receiver.came] == [2, 2, 1]
    receiver.came.clear()
    large = [document("/1", "x" * 900), document("/2", "x" * 10), document("/3", "x" * 3000), document("/4")]
    push(url, size=1500).deliver(batch(*large))
    assert [len(request.body.splitlines()) for request in receiver.came] == [2, 1, 1]


def test_a_request_that_comes_again_has_the_same_key_and_others_have_others(
    receiver: Receiver, url: str
) -> None:
    destination = push(url, documents=1)
    two = document("/a", title="A"), document("/b", title="B")
    for key in ("1", "1", "2"):
        destination.deliver(batch(*two, key=key))
    first, second, third = receiver.keys[:2], receiver.keys[2:4], receiver.keys[4:]
    assert first == second
    assert len({*first, *third}) == 4


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_waited_for(receiver: Receiver, url: str, status: int) -> None:
    clock = Clock()
    receiver.answers = [Reply(status), Reply(status, (("Retry-After", "7"),)), Reply(status)]
    push(url, clock).deliver(batch(document("/a")))
    assert clock.slept == [1, 7, 4]
    assert len(set(receiver.keys)) == 1


def test_a_retry_after_that_is_longer_than_retry_fails_at_once(receiver: Receiver, url: str) -> None:
    clock, a = Clock(), document("/a")
    destination = push(url, clock, retry=60)
    receiver.answers = [Reply(429, (("Retry-After", "3600"),))]
    with pytest.raises(WorkError, match=r"^the destination portal \(127.0.0.1\): answered 429$"):
        destination.deliver(batch(a))
    clock.now = 3000
    with pytest.raises(WorkError, match=sentence("index.retry_after_longer_than_option")):
        destination.deliver(batch(a))
    assert (len(receiver.came), clock.slept) == (1, [])
    clock.now = 3590
    destination.deliver(batch(a))
    assert (len(receiver.came), clock.slept) == (2, [10])


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 413, 422, 501])
def test_what_will_not_pass_fails_at_once_and_redirects_are_not_followed(
    receiver: Receiver, url: str, status: int
) -> None:
    receiver.answers = [Reply(status, (("Location", "/elsewhere"),))]
    with pytest.raises(WorkError) as raised:
        push(url).deliver(batch(document("/a")))
    assert str(raised.value) == f"the destination portal (127.0.0.1): answered {status}"
    assert len(receiver.came) == 1


def test_a_server_that_is_not_there_is_tried_again_for_as_long_as_was_said() -> None:
    clock = Clock()
    with pytest.raises(WorkError, match="portal"):
        push(f"http://127.0.0.1:{free_port()}/", clock, retry=10).deliver(batch(document("/a")))
    assert clock.slept == [1, 2, 4]


@pytest.mark.parametrize("networks", [[], ["10.0.0.0/8"]], ids=["none", "others"])
def test_private_addresses_are_refused_unless_their_network_is_named(
    receiver: Receiver, url: str, networks: list[str]
) -> None:
    for address in (url, url.replace("127.0.0.1", "localhost"), url.replace("127.0.0.1", "0x7f000001")):
        clock = Clock()
        with pytest.raises(
            WorkError, match=r"\(address loopback\) is refused; .*`networks: \['127.0.0.1'\]`"
        ):
            push(address, clock, networks=networks).deliver(batch(document("/a")))
        assert clock.slept == []
    assert receiver.came == []


def test_no_proxy_of_the_environment_is_used(
    receiver: Receiver, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    push(url, retry=0).deliver(batch(document("/a")))
    assert len(receiver.came) == 1


def test_a_secret_with_a_line_break_is_a_mistake_and_not_shown(url: str) -> None:
    with pytest.raises(UserError) as raised:
        push(url, headers={"X-Key": "geheim\r\nX-Other: 1"})
    assert str(raised.value) == (sentence("destinations.header_not_ascii"))


# ---- segments, and the process in which they are delivered


def segment(folder: Path, *changes: Change) -> Path:
    cache = DocumentCache(folder)
    for key, change in enumerate(changes, 1):
        cache.append(key, change)
    path = cache.seal()
    assert path is not None
    return path


class Noting(Destination):
    """Keeps the keys of batches."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def deliver(self, batch: Batch) -> int:
        self.keys.append(batch.key)
        return 0


def test_a_segment_has_a_key_of_its_own_which_a_link_to_it_has_too(tmp_path: Path) -> None:
    noting, path = Noting(), segment(tmp_path / "cache", document("/a"))
    os.utime(path, ns=(1, 1))
    link = tmp_path / "link"
    link.mkdir()
    os.link(path, link / path.name)
    deliver_segment(noting, path)
    deliver_segment(noting, link / path.name)
    path.unlink()
    again = segment(tmp_path / "cache", document("/a"))
    assert again.name == path.name
    deliver_segment(noting, again)
    assert noting.keys[0] == noting.keys[1] != noting.keys[2]


def reports_of(process: IndexProcess, *paths: Path) -> list[Report]:
    for path in paths:
        process.submit(path)
    return process.close(60)


def test_the_index_process_delivers_and_shows_no_secret_to_others(
    receiver: Receiver, url: str, tmp_path: Path
) -> None:
    path = segment(tmp_path, document("/a"), Deletion("s", "/b"))
    options = {**OPTIONS, "url": url, "headers": {"X-Key": "geheim"}}
    process = IndexProcess(DestinationConfig("portal", "http", options))
    process.prepare()
    assert process._worker is not None
    while not (seen := Path(f"/proc/{process._worker.pid}/cmdline").read_bytes()):
        assert not process._worker.has_ended
    (report,) = reports_of(process, path)
    assert isinstance(report, Committed)
    assert report.added == 1
    assert [row["action"] for row in receiver.rows] == ["put", "delete"]
    assert receiver.came[0].header("X-Key") == "geheim"
    assert (b"portal" in seen, b"geheim" in seen, b"s3cret" in seen) == (True, False, False)
    assert "geheim" not in repr(process._config)


def test_a_refusal_is_reported_with_its_reason(receiver: Receiver, url: str, tmp_path: Path) -> None:
    receiver.answers = [Reply(422)]
    path = segment(tmp_path, document("/a"))
    (report,) = reports_of(IndexProcess(DestinationConfig("portal", "http", {**OPTIONS, "url": url})), path)
    assert report == Failed(path, "the destination portal (127.0.0.1): answered 422")
    assert path.exists()


def test_a_process_killed_while_it_writes_leaves_whole_lines(tmp_path: Path) -> None:
    cache, path = DocumentCache(tmp_path / "cache"), tmp_path / "export.jsonl"
    for number in range(40):
        cache.append(number, document(f"/{number}", "x" * 500_000))
    sealed = cache.seal()
    assert sealed is not None
    process = IndexProcess(DestinationConfig("export", "jsonl", {"path": str(path)}))
    process.submit(sealed)
    worker = process._worker
    assert worker is not None
    while not (path.exists() and path.stat().st_size):
        assert not worker.has_ended, "it ended before anything was written"
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: worker.has_ended)
    (report,) = reports_of(process)  # it is started once more, and delivers the segment from its beginning
    assert isinstance(report, Committed)
    assert replayed(lines_in(path)) == {f"/{number}": "" for number in range(40)}


def test_an_unknown_type_is_a_mistake() -> None:
    with pytest.raises(UserError, match="unknown type of destination 'ftp'; known are: "):
        open_destination(DestinationConfig("x", "ftp"))
