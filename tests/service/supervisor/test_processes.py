"""A crawl in a process, as its parent sees it; the process is none."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import signal
import sys
import weakref
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ForkServer
from multiprocessing.util import get_temp_dir
from typing import Any, cast

import pytest
from service.searching.conftest import is_alive
from support.sentences import sentence
from support.until import until

from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlOrder, CrawlProgress, report_adapter
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.process import SearchProcess
from ultracrawl.service.supervisor import child, processes
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.service.supervisor.processes import ChildCrawl
from ultracrawl.system.fork_server import start_process
from ultracrawl.system.temporary_folder import own_temporary_folder

LITTLE_GARBAGE = 20
"""Objects that refer to each other; what reads a report makes more of them when it is made."""


class Held:
    """A process that does not end until it is killed; its end of the pipe closes with it."""

    pid = 1 << 30
    exitcode: int | None = None

    def __init__(self) -> None:
        self.ours, self.pipe = Pipe()
        self.signals: list[int] = []
        self.closed = False

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

    def close(self) -> None:
        assert self.exitcode is not None
        self.closed = True

    def tell_report(self) -> None:
        report = report_adapter().dump_python(RunReport.not_begun("a", WorkError("x")), mode="json")
        os.write(
            self.pipe.fileno(),
            json.dumps({"report": report, "mistake": False, "last": False}).encode() + b"\n",
        )


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


@pytest.mark.parametrize("ended", ["by itself", "stopped", "killed", "held"])
def test_nothing_of_a_process_is_kept_open_after_its_end(held: Held, ended: str) -> None:
    async def play() -> weakref.ref[ChildCrawl]:
        crawl = held.crawl()
        if ended == "stopped":
            await crawl.stop_crawl()
            await crawl.stop_crawl()
        if ended == "killed":
            await crawl.kill_crawl()
        else:
            held.exitcode = None if ended == "held" else 0
            held.pipe.close()
        await crawl.finished()
        await crawl.stop_crawl()  # too late
        assert (held.ours.closed, held.closed) == (True, True)
        return weakref.ref(crawl)

    async def play_and_look() -> None:
        kept = await play()
        await asyncio.sleep(0)
        gc.collect()
        assert kept() is None, "a timer keeps it for minutes"

    asyncio.run(play_and_look())


def test_reports_leave_no_garbage_that_waits_for_its_collection() -> None:
    async def read_report() -> int:
        held = Held()
        crawl = held.crawl()
        held.tell_report()
        held.exitcode = 0
        held.pipe.close()
        assert (await crawl.finished()).report is not None
        del crawl, held
        await asyncio.sleep(0)
        return gc.collect()

    async def play() -> list[int]:
        return [await read_report() for _ in range(3)]

    gc.disable()
    gc.freeze()  # what other tests left is neither counted nor looked at
    try:
        assert max(asyncio.run(play())[1:]) < LITTLE_GARBAGE
    finally:
        gc.unfreeze()
        gc.enable()


def test_processes_start_although_the_temporary_folder_was_deleted() -> None:
    """A program that cleans up may delete it; processes that were started before tell their end as ever."""
    started = []
    for number in (3, 4):
        started.append(start_process(_end_at_a_message, number, name="any"))
        shutil.rmtree(get_temp_dir())
    for process, pipe in started:
        pipe.send_bytes(b"end")
        process.join()
    assert [process.exitcode for process, _ in started] == [3, 4]
    assert (own_temporary_folder() / "owner").exists()


@pytest.fixture
def killed_servers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Fork servers are killed when they are asked for a process: as many as [0] says; their ids follow."""
    ensure_running = ForkServer.ensure_running
    asked = [1]

    def ensure_and_kill(server: Any) -> None:
        ensure_running(server)
        if asked[0]:
            asked[0] -= 1
            asked.append(server._forkserver_pid)
            os.kill(server._forkserver_pid, signal.SIGKILL)
            os.waitid(os.P_PID, server._forkserver_pid, os.WEXITED | os.WNOWAIT)

    monkeypatch.setattr(ForkServer, "ensure_running", ensure_and_kill)
    return asked


def test_a_fork_server_that_is_killed_when_it_is_asked_is_asked_again(killed_servers: list[int]) -> None:
    process, pipe = start_process(_end_at_a_message, 5, name="any")
    pipe.send_bytes(b"end")
    process.join()
    assert (process.exitcode, len(killed_servers)) == (5, 2)


def test_a_fork_server_that_dies_each_time_is_work_that_failed(killed_servers: list[int]) -> None:
    start_process(_end_at_a_message, 0, name="any")[1].close()
    killed_servers[0] = 3
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(WorkError):
        SearchProcess(SearchingOptions())
    assert len(killed_servers) == 4
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_search_is_ended_after_the_death_of_its_fork_server(killed_servers: list[int]) -> None:
    """`multiprocessing` takes its process for dead then."""
    killed_servers[0] = 0
    search = SearchProcess(SearchingOptions())
    pid = search.pid
    killed_servers[0] = 1
    process, pipe = start_process(_end_at_a_message, 5, name="any")
    pipe.send_bytes(b"end")
    process.join()
    assert is_alive(pid)
    search.interrupt()
    until(lambda: not is_alive(pid))
    search.end_process()


def _end_at_a_message(number: int, pipe: Connection) -> None:
    pipe.recv_bytes()
    sys.exit(number)
