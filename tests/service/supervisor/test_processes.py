"""A crawl in a process, as its parent sees it; the process is none."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from multiprocessing import Pipe
from typing import Any, cast

import pytest
from support.sentences import sentence

from ultracrawl.service.orders import CrawlOrder, CrawlProgress
from ultracrawl.service.supervisor import child, processes
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.service.supervisor.processes import ChildCrawl


class Held:
    """A process that does not end until it is killed; its end of the pipe closes with it."""

    pid = 1 << 30
    exitcode: int | None = None

    def __init__(self) -> None:
        self.ours, self.pipe = Pipe()
        self.signals: list[int] = []

    def crawl(self) -> ChildCrawl:
        return ChildCrawl(CrawlOrder("a"), cast(Any, self), self.ours, None)

    def take_signal(self, _pid: int, number: int) -> None:
        self.signals.append(number)
        if number == signal.SIGKILL:
            self.kill()
            self.pipe.close()

    def join(self, seconds: float) -> None:
        """Return at once, as after so many seconds."""

    def kill(self) -> None:
        self.exitcode = -9


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    process = Held()
    monkeypatch.setattr(os, "kill", process.take_signal)
    return process


def test_a_process_that_is_held_at_its_end_does_not_keep_its_source(held: Held) -> None:
    async def play() -> None:
        crawl = held.crawl()
        held.pipe.close()
        end = await crawl.finished()
        assert end.died
        assert held.exitcode == -9

    asyncio.run(play())


def test_a_process_has_nothing_to_say_any_more_after_its_crawl(
    monkeypatch: pytest.MonkeyPatch, held: Held
) -> None:
    monkeypatch.setattr(child, "crawl_in_child", lambda *_: None)
    processes._run(cast(ChildOrder, None), held.pipe)
    assert held.pipe.closed, "what holds it now is seen"


def test_what_a_process_says_comes_in_parts(held: Held) -> None:
    async def play() -> None:
        crawl, seen = held.crawl(), CrawlProgress("7", paused=True, counts={"fetched": 3})
        said = json.dumps({"live": {"run": "7", "paused": True, "counts": {"fetched": 3}}}).encode() + b"\n"
        for part in (said[:9], said[9:] + said[:20], said[20:]):
            os.write(held.pipe.fileno(), part)
            for _ in range(3):
                await asyncio.sleep(0)
            assert (crawl.progress == seen) is (part != said[:9])
        held.take_signal(0, signal.SIGKILL)
        assert (await crawl.finished()).died

    asyncio.run(play())


@pytest.mark.parametrize(
    "said", [b"\x00\x00\xff\xff\n", b"[]\n", b'{"live": {"x": 1}}\n', b"[" * 99_999 + b"\n", b"x" * 99]
)
def test_a_process_that_says_nonsense_is_ended(
    monkeypatch: pytest.MonkeyPatch, held: Held, said: bytes
) -> None:
    async def play() -> None:
        crawl = held.crawl()
        os.write(held.pipe.fileno(), said)
        end = await crawl.finished()
        assert (end.died, held.signals) == (True, [signal.SIGKILL])
        assert sentence("supervisor.invalid_message") in end.line

    monkeypatch.setattr(processes, "_MAX_MESSAGE_BYTES", 50)
    asyncio.run(play())


def test_a_process_that_does_not_end_when_it_is_asked_to_is_killed(
    monkeypatch: pytest.MonkeyPatch, held: Held
) -> None:
    async def play() -> None:
        crawl = held.crawl()
        await crawl.stop_crawl()
        end = await crawl.finished()
        assert (end.died, held.signals) == (True, [signal.SIGTERM, signal.SIGKILL])
        assert end.line == sentence("supervisor.did_not_end")

    monkeypatch.setattr(processes, "_STOP_TIMEOUT", 0.0)
    asyncio.run(play())
