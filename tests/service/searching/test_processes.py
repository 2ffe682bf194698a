"""Search processes: what one of them suffers ends its own search alone, and they follow the project."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from service.searching.conftest import ANYBODY, OPTIONS, Birds, is_alive
from support.until import until, until_on_loop

from ultracrawl.errors import IndexDamagedError, IndexStoreError, UserError, WorkError
from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.hits.result_json import DisplayNames, answer_json
from ultracrawl.index.searching import Searcher
from ultracrawl.service.searching import process as process_module
from ultracrawl.service.searching.messages import Request
from ultracrawl.service.searching.orders import SearchEndedError, SearchOrder, SuggestOrder
from ultracrawl.service.searching.process import SearchProcess
from ultracrawl.service.searching.requests import Searching
from ultracrawl.sources.kinds import hit_codes

OTHER = replace(ANYBODY, name="token:other")


def only_pid(birds: Birds) -> int:
    (pid,) = birds.searching.pids()
    return pid


async def hang(birds: Birds) -> asyncio.Future[dict[str, object]]:
    """Begin a search in the first process, which is stopped."""
    os.kill(birds.searching.pids()[0], signal.SIGSTOP)
    hanging = asyncio.ensure_future(birds.searching.run(ANYBODY, SearchOrder("heron")))
    await until_on_loop(lambda: birds.searching._processes._busy)
    return hanging


def test_answers_are_those_of_a_searcher(birds: Birds) -> None:
    orders = [
        SearchOrder("heron", facets=("Title",), limit=2),
        SearchOrder("hron"),
        SearchOrder(sort="Title"),
    ]
    with Searcher(birds.project) as searcher:
        for order in orders:
            result = searcher.search(order.text, facets=order.facets, sort=order.sort, limit=order.limit)
            codes = hit_codes(birds.project.known_sources.values())
            expected = answer_json(order.text, result, 0.0, DisplayNames(), codes)
            assert {**birds.ask(ANYBODY, order), "took_ms": 0.0} == expected
        suggested = birds.ask(ANYBODY, SuggestOrder("her"))["completions"]
        assert [one["text"] for one in suggested] == [one.text for one in searcher.complete("her")]


def test_a_process_is_used_again(birds: Birds) -> None:
    birds.serve(result_cache=0)
    birds.titles("heron")
    pid = only_pid(birds)
    birds.titles("egret")
    assert only_pid(birds) == pid


def test_a_search_past_its_time_is_ended_and_the_next_one_works(
    birds: Birds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracrawl.service.searching.process.wall_limit", lambda seconds: seconds)
    birds.serve(timeout=3.0, result_cache=0)
    birds.titles("heron")
    pid = only_pid(birds)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(SearchEndedError):
        birds.titles("heron")
    assert not is_alive(pid)
    assert birds.titles("egret") == ["Egret"]


@pytest.mark.parametrize(
    ("used", "late", "ended"),
    [(0.0, 99.0, False), (9.0, 0.0, False), (11.0, 0.0, True), (0.0, 101.0, True)],
    ids=["a busy machine", "in time", "too much work", "it hangs"],
)
def test_a_search_is_bounded_by_its_processor_time(
    birds: Birds, used: float, late: float, ended: bool
) -> None:
    spent, wall = [0.0], [0.0]
    process = SearchProcess(replace(OPTIONS, timeout=10.0), lambda _: spent[0], lambda: wall[0])
    os.kill(process.pid, signal.SIGSTOP)
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(process.answer, birds.project, Request(SearchOrder("heron"), None, None))
        until(lambda: process._deadline < math.inf)
        spent[0], wall[0] = used, late
        process.check()
        with suppress(ProcessLookupError):  # it was ended, and it is gone already
            os.kill(process.pid, signal.SIGCONT)
        failed = isinstance(answer.exception(60), SearchEndedError)
    process.end_process()
    assert failed is ended


def test_a_process_that_is_killed_during_a_search_ends_it_alone(birds: Birds) -> None:
    synonyms = birds.folder / "synonyms"
    synonyms.write_text("dunlin => heron\n")
    birds.define(search={"synonyms": "synonyms"})
    birds.project = birds.read()
    birds.serve(result_cache=0)

    async def searched() -> None:
        await birds.searching.run(ANYBODY, SearchOrder("heron"))
        pid = only_pid(birds)
        synonyms.unlink()
        os.mkfifo(synonyms)
        hanging = asyncio.ensure_future(birds.searching.run(ANYBODY, SearchOrder("heron")))
        writer = await reader_of(synonyms)
        assert not hanging.done()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(SearchEndedError):
            await hanging
        os.close(writer)
        synonyms.unlink()
        synonyms.write_text("")
        assert (await birds.searching.run(ANYBODY, SearchOrder("heron")))["total"] == 3

    asyncio.run(searched())


async def reader_of(fifo: Path) -> int:
    """Wait until somebody reads a FIFO, and return its open other end."""
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            await asyncio.sleep(0.01)


def test_an_idle_process_that_dies_is_replaced_unnoticed(birds: Birds) -> None:
    birds.serve(result_cache=0)
    birds.titles("heron")
    pid = only_pid(birds)
    os.kill(pid, signal.SIGKILL)  # the search begins before its end can be seen
    assert birds.titles("egret") == ["Egret"]
    assert only_pid(birds) != pid


def test_somebody_else_has_another_process_than_one_that_hangs(birds: Birds) -> None:
    birds.serve(result_cache=0)

    async def searched() -> None:
        await birds.searching.run(ANYBODY, SearchOrder("heron"))
        pid = only_pid(birds)
        hanging = await hang(birds)
        assert (await birds.searching.run(OTHER, SearchOrder("egret")))["total"] == 1
        assert not hanging.done()
        os.kill(pid, signal.SIGKILL)
        assert (await hanging)["total"] == 3, "it had not begun: another process answers"

    asyncio.run(searched())


def test_the_searches_of_one_requester_leave_a_process_to_others(birds: Birds) -> None:
    birds.serve(result_cache=0)

    async def searched() -> None:
        await birds.searching.run(ANYBODY, SearchOrder("heron"))
        pid = only_pid(birds)
        flood = [await hang(birds) for _ in range(20)]
        for text in ("egret", "gull"):
            assert (await birds.searching.run(OTHER, SearchOrder(text)))["total"] == 1
        assert not any(one.done() for one in flood)
        os.kill(pid, signal.SIGCONT)
        assert {one["total"] for one in await asyncio.gather(*flood)} == {3}
        assert len(birds.searching.pids()) == 2

    asyncio.run(searched())


def test_a_process_that_has_grown_is_replaced_after_its_search(birds: Birds) -> None:
    birds.serve(large=1, result_cache=0)
    assert birds.titles("egret") == ["Egret"]
    assert birds.searching.pids() == []
    assert birds.titles("egret") == ["Egret"]


def test_a_search_that_takes_too_much_memory_is_ended(birds: Birds) -> None:
    birds.serve(result_cache=0)
    birds.titles("heron")
    birds.serve(too_large=1, result_cache=0)
    asyncio.run(_stopped_once_started(birds))


async def _stopped_once_started(birds: Birds) -> None:
    searching = birds.searching
    first = asyncio.ensure_future(searching.run(ANYBODY, SearchOrder("heron")))
    await until_on_loop(lambda: searching.pids() or first.done())
    for pid in searching.pids():
        os.kill(pid, signal.SIGSTOP)
    try:
        await first
    except SearchEndedError:
        return
    (pid,) = searching.pids()
    with pytest.raises(SearchEndedError):
        await searching.run(ANYBODY, SearchOrder("egret"))
    assert not is_alive(pid)


def test_processes_follow_changed_definitions(birds: Birds) -> None:
    assert birds.titles("dunlin") == []
    (birds.folder / "synonyms").write_text("dunlin => heron\n")
    birds.define(search={"synonyms": "synonyms"})
    birds.project = birds.read()
    assert birds.titles("dunlin") == ["Egret", "Gull", "Heron"]
    (birds.folder / "synonyms").write_text("dunlin => egret\n")
    assert birds.titles("dunlin") == ["Egret"], "the file alone has changed"


def test_each_search_sees_the_newest_commit(birds: Birds) -> None:
    assert birds.titles("heron") == ["Egret", "Gull", "Heron"]
    birds.put(IndexDocument("lake", "http://lake.example/bittern", "Bittern", "a heron of the reeds"))
    assert birds.titles("heron") == ["Bittern", "Egret", "Gull", "Heron"]
    birds.put(Deletion("lake", "http://lake.example/bittern"))
    assert birds.titles("heron") == ["Egret", "Gull", "Heron"]


def test_errors_cross_the_border_of_the_process_as_they_are(birds: Birds) -> None:
    with pytest.raises(UserError):
        birds.ask(ANYBODY, SearchOrder("heron", filters=("nonsense",)))
    pid = only_pid(birds)
    for file in sorted(birds.project.index.path.rglob("*")):
        if file.suffix in (".toc", ".seg", ".term", ".store", ".idx") or file.name == "meta.json":
            file.unlink()  # what is cut under a process that has it mapped ends the process: a new file is only read
            file.write_bytes(b"")
    with pytest.raises(IndexStoreError) as damaged:
        birds.titles("heron")
    assert isinstance(damaged.value, IndexDamagedError)
    assert str(damaged.value).count(damaged.value.damage) == 1
    assert only_pid(birds) == pid, "the process lives"


def test_no_process_is_left_when_the_service_ends(birds: Birds) -> None:
    async def searched() -> None:
        await birds.searching.run(ANYBODY, SearchOrder("egret"))
        hanging = await hang(birds)
        await birds.searching.run(OTHER, SearchOrder("white"))
        pids = birds.searching.pids()
        assert len(pids) == 2
        await asyncio.to_thread(birds.searching.close)
        with pytest.raises(SearchEndedError):
            await hanging
        await asyncio.to_thread(until, lambda: not any(map(is_alive, pids)))

    asyncio.run(searched())


_SERVICE = """
import asyncio, sys, time
from service.searching.conftest import *

def main():
    project = require(read_definitions(Path(sys.argv[1]) / "ultracrawl.yaml"))
    searching = Searching(lambda: project, options=OPTIONS)
    asyncio.run(searching.run(ANYBODY, SearchOrder("heron")))
    print(searching.pids()[0], flush=True)
    time.sleep(600)

if __name__ == "__main__":
    main()
"""


def test_processes_end_with_a_service_that_is_killed(birds: Birds) -> None:
    program = birds.folder / "program.py"
    program.write_text(_SERVICE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, program, birds.folder], stdout=subprocess.PIPE, text=True, env=environment
    ) as service:
        assert service.stdout
        pid = int(service.stdout.readline())
        assert is_alive(pid)
        service.kill()
    until(lambda: not is_alive(pid))


def test_searching_without_options_has_a_process_for_each_core() -> None:
    assert OPTIONS.processes == 1
    assert type(OPTIONS)().processes == (os.cpu_count() or 1)
    assert Searching(lambda: pytest.fail("nothing is searched")).pids() == []


def test_a_process_that_cannot_be_started_is_work_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fork server may be killed at that moment."""

    def start_none(*_: object, **__: object) -> None:
        raise EOFError

    monkeypatch.setattr(process_module, "start_process", start_none)
    with pytest.raises(WorkError):
        SearchProcess(OPTIONS)
