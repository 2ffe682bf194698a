"""The index process, the worker's life, and an index that is killed or runs out of disk."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from support.inline_indexer import InlineIndexer
from support.memory_index import MemoryIndex
from support.sentences import sentence
from support.until import some_time, until

from ultracrawl.errors import IndexDamagedError, IndexStoreError, UserError
from ultracrawl.index import Deletion, IndexDocument, NewAnchors, SearchQuery
from ultracrawl.index.changes import TEXT_PER_COMMIT, batches
from ultracrawl.index.destinations.destination_config import DestinationConfig
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.writing import sharing
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.crawl_connections import CrawlConnection, CrawlConnections
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.index.writing.questions import AskedIndex
from ultracrawl.index.writing.segments import Committed, Failed, Report
from ultracrawl.index.writing.sharing import claim_index
from ultracrawl.index.writing.worker_handles import JoinedWorker, StartedWorker

from .conftest import ATTRIBUTES, DISK_ENGINES


@pytest.fixture
def config(tmp_path: Path) -> IndexConfig:
    return IndexConfig("whoosh", tmp_path / "index", tuple(ATTRIBUTES.values()))


def segment(cache: DocumentCache, start: int, count: int, words: int = 50) -> Path:
    for n in range(start, start + count):
        cache.append(
            n, IndexDocument("s", f"/{n}", f"title {n}", "word " * words + f"number{n}", {"Size": [n]})
        )
    path = cache.seal()
    assert path is not None
    return path


def collect(process: IndexProcess, count: int) -> list[Report]:
    reports: list[Report] = []

    def reported() -> bool:
        reports.extend(process.poll())
        return len(reports) >= count

    until(reported)
    return reports


def test_configuration_survives_json(config: IndexConfig) -> None:
    assert IndexConfig.from_json(config.to_json()) == config


def test_memory_goes_back_to_the_system_unless_the_environment_says_otherwise(
    config: IndexConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, str] = {}

    def start(*_: object, env: dict[str, str], **__: object) -> None:
        told.update(env)
        raise OSError("none is started here")

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "7")
    process = IndexProcess(config)
    with pytest.raises(IndexStoreError):
        process.prepare()
    process.close()
    assert told["MALLOC_ARENA_MAX"] == "7"
    assert int(told["MALLOC_TRIM_THRESHOLD_"]) > 0


@pytest.mark.parametrize("engine", DISK_ENGINES)
def test_what_answers_queries_is_not_loaded_to_write(engine: str, tmp_path: Path) -> None:
    config = IndexConfig(engine, tmp_path / "index", tuple(ATTRIBUTES.values()))
    program = (
        "import sys; from ultracrawl.index.engines import IndexConfig, open_index\n"
        "from ultracrawl.index import IndexDocument; from ultracrawl.index.writing import worker\n"
        "open_index(IndexConfig.from_json(sys.argv[1])).apply([IndexDocument('s', '/', '', 'text')])\n"
        "print([name for name in sys.modules if name.endswith(('.parser', '.matching', '.index_searcher', '.tree'))])"
    )
    command = [sys.executable, "-c", program, config.to_json()]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "ultracrawl" not in loaded


def test_segments_are_applied_in_order_and_reported_once(config: IndexConfig, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    paths = [segment(cache, start, 20) for start in (0, 10, 20)]
    process = IndexProcess(config)
    for path in paths:
        process.submit(path)
    reports = collect(process, 3)
    assert [report.path for report in reports] == paths
    assert [report.added for report in reports if isinstance(report, Committed)] == [20, 20, 20]
    assert process.close() == []
    assert len(list(open_index(config).urls())) == 40


def test_nobody_waits_for_a_merge_at_the_end(config: IndexConfig, tmp_path: Path) -> None:
    """A segment with mostly deleted documents is rewritten, unless the crawl is over."""
    cache = DocumentCache(tmp_path / "cache")
    for _ in range(2):
        process = IndexProcess(config)
        process.submit(segment(cache, 0, 20))
        process.submit(segment(cache, 0, 15))
        process.close()
    assert open_index(config).facts().deleted > 0
    process = IndexProcess(config)
    process.submit(segment(cache, 0, 1))
    collect(process, 1)
    until(lambda: open_index(config).facts().deleted <= 5)  # an idle process merges
    process.close()


def test_close_finishes_what_was_submitted(config: IndexConfig, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(config)
    process.submit(segment(cache, 0, 30))
    (report,) = process.close()
    assert isinstance(report, Committed)
    assert open_index(config).count() == 30


def test_a_killed_worker_is_replaced_and_loses_nothing(config: IndexConfig, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(config)
    paths = [segment(cache, 0, 200), segment(cache, 200, 200)]
    process.submit(paths[0])
    assert process._worker is not None
    os.kill(process._worker.pid, signal.SIGKILL)
    process.submit(paths[1])
    reports = collect(process, 2)
    assert [type(report) for report in reports] == [Committed, Committed]
    process.close()
    assert open_index(config).count() == 400


def test_a_worker_that_dies_twice_is_reported_with_its_reason(tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(DestinationConfig("export", "no-such-type", {}))
    path = segment(cache, 0, 1)
    process.submit(path)
    (report,) = collect(process, 1)
    assert isinstance(report, Failed)
    assert report.path == path
    assert "exit code 1" in report.reason
    assert "'no-such-type'" in report.reason
    assert process.close() == [], "it was reported once"
    with pytest.raises(IndexStoreError, match="'no-such-type'"):
        process.ask({"ask": "urls", "source": "s"})
    process.close()


def test_an_index_that_cannot_be_opened_says_so_to_whoever_writes_or_asks(tmp_path: Path) -> None:
    config = IndexConfig("no-such-engine", tmp_path / "index")
    process = IndexProcess(config)
    process.submit(segment(DocumentCache(tmp_path / "cache"), 0, 1))
    (report,) = collect(process, 1)
    assert isinstance(report, Failed)
    with pytest.raises(UserError) as refused:
        AskedIndex(config, process.ask).inspect("s", [], [])
    assert str(refused.value) == report.reason
    assert process.close() == []


def test_questions_are_answered_and_no_report_is_lost(config: IndexConfig, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(config)
    process.submit(path := segment(cache, 0, 20))
    asked = AskedIndex(config, process.ask)
    problems: list[str] = []
    assert sorted(asked.urls("s")) == sorted(("s", f"/{n}") for n in range(20))
    assert (asked.inspect("s", problems, problems), problems) == (20, [])
    assert [report.path for report in process.poll()] == [path]
    assert process.poll() == []
    joined = IndexProcess(config)
    assert list(AskedIndex(config, joined.ask).urls("other")) == []
    assert isinstance(joined._worker, JoinedWorker)
    joined.close()
    process.close()


def test_a_question_outlives_the_process_that_was_asked(config: IndexConfig, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(config)
    joined = IndexProcess(config)
    process.submit(path := segment(cache, 0, 20))
    collect(process, 1)
    joined.prepare()
    assert isinstance(process._worker, StartedWorker)
    os.kill(process._worker.pid, signal.SIGKILL)
    for one in (process, joined):
        assert len(list(AskedIndex(config, one.ask).urls("s"))) == 20
    process.submit(path)
    assert isinstance(collect(process, 1)[0], Committed)
    joined.close()
    process.close()


def test_a_damaged_index_is_repaired_by_whom_it_is_asked_of(
    config: IndexConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    process = IndexProcess(config)
    process.submit(segment(DocumentCache(tmp_path / "cache"), 0, 20))
    process.close()
    max(config.path.glob("*.toc")).write_bytes(b"nothing of use")
    problems: list[str] = []
    remarks: list[str] = []
    assert AskedIndex(config, process.ask).inspect("s", problems, remarks) == 0
    assert (len(problems), remarks) == (1, [])
    assert str(config.path) in caplog.text
    process.close()


def test_a_damaged_segment_fails_alone(config: IndexConfig, tmp_path: Path) -> None:
    bad = tmp_path / "bad.sealed"
    bad.write_text("nonsense\n")
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(config)
    process.submit(bad)
    process.submit(segment(cache, 0, 3))
    reports = collect(process, 2)
    assert isinstance(reports[0], Failed)
    assert "bad.sealed:1 is damaged" in reports[0].reason
    assert isinstance(reports[1], Committed)
    process.close()


def test_terminal_signals_do_not_stop_the_worker(config: IndexConfig, tmp_path: Path) -> None:
    cache = DocumentCache(tmp_path / "cache")
    process = IndexProcess(config)
    process.submit(segment(cache, 0, 3))
    collect(process, 1)
    assert process._worker is not None
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        os.kill(process._worker.pid, signal_number)
    process.submit(segment(cache, 3, 3))
    assert isinstance(collect(process, 1)[0], Committed)
    process.close()


def test_housekeeping_is_done_when_neither_a_segment_nor_the_end_comes() -> None:
    reading, writing = os.pipe()
    orders = CrawlConnections(CrawlConnection(reading, writing), None).requests(0.0)
    os.write(writing, b'"one"\n"two"\n"thr')
    assert [order[1] for order in (next(orders), next(orders)) if order] == [b'"one"', b'"two"']
    assert next(orders) is None
    os.write(writing, b'ee"\n')
    os.close(writing)
    last = next(orders)
    assert last is not None
    assert last[1] == b'"three"'
    assert list(orders) == [], "the end has come, and nobody waits for housekeeping"
    os.close(reading)


def test_housekeeping_waits_as_long_as_the_last_request_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now, waited = [0.0], list[float | None]()
    reading, writing = os.pipe()
    connections = CrawlConnections(CrawlConnection(reading, writing), None)
    wait = connections._wait

    def wait_for_nothing(seconds: float | None) -> bool:
        waited.append(seconds)
        return wait(0.0)

    monkeypatch.setattr("ultracrawl.index.writing.crawl_connections.time.monotonic", lambda: now[0])
    monkeypatch.setattr(connections, "_wait", wait_for_nothing)
    requests = connections.requests(2.0)
    os.write(writing, b'"one"\n')
    assert next(requests) is not None
    now[0] += 5.0
    assert next(requests) is None
    assert waited[-1] == 7.0
    os.close(writing)
    os.close(reading)


def test_crawls_that_feed_one_index_have_one_process(config: IndexConfig, tmp_path: Path) -> None:
    caches = [DocumentCache(tmp_path / f"cache{number}") for number in range(2)]
    first, second = IndexProcess(config), IndexProcess(config)
    first.submit(segment(caches[0], 0, 20))
    collect(first, 1)
    second.submit(segment(caches[1], 20, 20))
    collect(second, 1)
    assert isinstance(second._worker, JoinedWorker)
    assert isinstance(first._worker, StartedWorker)
    worker = first._worker.pid
    first.close()
    second.submit(segment(caches[1], 40, 20))
    assert isinstance(collect(second, 1)[0], Committed)
    assert psutil.pid_exists(worker), "the second one needs it still"
    second.close()
    until(lambda: not running(worker))
    assert open_index(config).count() == 60


def test_when_the_owner_of_an_index_is_killed_another_takes_over_and_nothing_is_lost(
    config: IndexConfig, tmp_path: Path
) -> None:
    caches = [DocumentCache(tmp_path / f"cache{number}") for number in range(3)]
    processes = [IndexProcess(config) for _ in caches]
    processes[0].submit(segment(caches[0], 0, 20))
    collect(processes[0], 1)
    for number, process in enumerate(processes):
        process.submit(segment(caches[number], 100 * number, 100))
    assert isinstance(processes[0]._worker, StartedWorker)
    os.kill(processes[0]._worker.pid, signal.SIGKILL)
    for process in reversed(processes):
        assert isinstance(collect(process, 1)[0], Committed)
    # One whose segment was committed before the kill had no reason to look for another owner yet.
    for number, process in enumerate(processes):
        process.submit(segment(caches[number], 100 * number + 1000, 20))
        assert isinstance(collect(process, 1)[0], Committed)
    kinds = [type(process._worker) for process in processes]
    assert (kinds.count(StartedWorker), kinds.count(JoinedWorker)) == (1, 2), "one owns it, the others joined"
    for process in processes:
        process.close()
    assert open_index(config).count() == 360
    assert open_index(config).check() == []


def test_an_address_that_somebody_else_has_keeps_nobody_from_indexing(
    config: IndexConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = claim_index(config.to_json())
    assert owner is not None
    monkeypatch.setattr(sharing, "is_same_user", lambda _: False)
    process = IndexProcess(config)
    process.submit(segment(DocumentCache(tmp_path / "cache"), 0, 20))
    assert isinstance(collect(process, 1)[0], Committed)
    process.close()
    owner.close()


def test_a_worker_that_cannot_be_started_after_another_crawl_was_faster_fails_its_segments_alone(
    config: IndexConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> None:
        raise OSError("no memory for it")

    process = IndexProcess(config)
    process.submit(path := segment(DocumentCache(tmp_path / "cache"), 0, 5))
    monkeypatch.setattr(StartedWorker, "has_ended", True)
    monkeypatch.setattr(StartedWorker, "is_owned_elsewhere", True)
    monkeypatch.setattr(StartedWorker, "receive", lambda _: b"")
    monkeypatch.setattr(StartedWorker, "exit_reason", lambda _: "")
    monkeypatch.setattr(subprocess, "Popen", start)
    assert process.poll() == [Failed(path, sentence("index.process_cannot_start"))]
    assert process.close() == []


def running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_the_worker_ends_when_its_parent_is_killed(config: IndexConfig, tmp_path: Path) -> None:
    program = (
        "import os, sys, time; from pathlib import Path; from ultracrawl.index.engines import IndexConfig\n"
        "from ultracrawl.index.writing.process import IndexProcess\n"
        "p = IndexProcess(IndexConfig.from_json(sys.argv[1]))\n"
        "p.submit(Path(sys.argv[2]))\n"
        "while not p.poll(): time.sleep(0.01)\n"
        "print(p._worker.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    path = segment(DocumentCache(tmp_path / "cache"), 0, 3)
    command = [sys.executable, "-c", program, config.to_json(), str(path)]
    worker = int(subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout)
    until(lambda: not running(worker))


def test_inline_indexer_has_the_same_interface(tmp_path: Path) -> None:
    indexer = InlineIndexer(MemoryIndex({}))
    cache = DocumentCache(tmp_path / "cache")
    path = segment(cache, 0, 5)
    indexer.submit(path)
    (report,) = indexer.poll()
    assert isinstance(report, Committed)
    assert (report.path, report.added, indexer.poll()) == (path, 5, [])
    assert indexer.engine.count() == 5
    indexer.submit(tmp_path / "absent")
    (failed,) = indexer.close()
    assert isinstance(failed, Failed)


def test_batches_are_cut_by_text_and_number() -> None:
    long = IndexDocument("s", "/", "", "x" * (TEXT_PER_COMMIT // 2))
    assert [len(batch) for batch in batches([long] * 5)] == [2, 2, 1]
    assert [len(batch) for batch in batches([Deletion("s", "/")] * 4001)] == [2000, 2000, 1]
    assert [len(batch) for batch in batches([NewAnchors("s", "/", ())] * 900)] == [400, 400, 100]
    assert list(batches([])) == []


KILLED = """
import sys
from pathlib import Path
from ultracrawl.index import IndexDocument, Deletion
from ultracrawl.index.engines import IndexConfig, open_index
index = open_index(IndexConfig.from_json(sys.argv[1]))
base = int(sys.argv[2])
print("ready", flush=True)
for batch in range(10_000):
    text = f"batch{base + batch} " + "word " * 300
    index.apply([IndexDocument("s", f"/{n}", "t", text) for n in range(100)])
    print(base + batch, flush=True)
    index.maintain()
"""


def test_an_index_killed_while_writing_opens_with_its_last_commit(config: IndexConfig) -> None:
    rng = random.Random(7)
    last = -1
    for round_number in range(10):
        command = [sys.executable, "-c", KILLED, config.to_json(), str(1000 * round_number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            some_time(rng.uniform(0.0, 0.5))
            process.kill()
            told = process.stdout.read().split()
        last = int(told[-1]) if told else last
        index = open_index(config)
        count = index.count()
        assert count in (0, 100)
        if last >= 0:
            committed = (last, last + 1, 1000 * round_number)  # what was committed need not have been told
            found = [n for n in committed if index.search(SearchQuery(f"batch{n}")).total == 100]
            assert found
            last = max(found)
        index.close()
    index = open_index(config)
    index.apply([IndexDocument("s", "/after", "t", "after")])
    assert index.count() in (1, 101)
    segments = {path.name.split(".")[0] for path in config.path.glob("MAIN_*.*")}
    names = sorted(path.name for path in config.path.iterdir())
    index.optimise()
    index.close()
    assert len(list(config.path.glob("*.toc*"))) == 1, names
    assert len(list(config.path.glob("MAIN_*.*"))) == 1
    assert len(segments) <= 42
    assert not (config.path / "MAIN.tmp").exists()


FULL = """
import resource, signal, sys
from ultracrawl.errors import IndexStoreError, UserError
from ultracrawl.index import IndexDocument
from ultracrawl.index.engines import IndexConfig, open_index
index = open_index(IndexConfig.from_json(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in range(0, 3_000_000, 49_973):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        texts = [" ".join(f"x{n}y{i}" for i in range(99)) for n in range(50)]
        index.apply([IndexDocument("s", f"/{n}", "t", text) for n, text in enumerate(texts)])
        print("written at", limit)
        break
    except IndexStoreError as error:
        print(error)
        assert index.count() == 3, index.count()
"""


def test_a_full_disk_leaves_the_index_as_it_was(config: IndexConfig) -> None:
    index = open_index(config)
    index.apply([IndexDocument("s", f"/old{n}", "t", "old") for n in range(3)])
    before = {path.name for path in config.path.iterdir()}
    command = [sys.executable, "-c", FULL, config.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    *errors, written = done.stdout.splitlines()
    assert written.startswith("written at")
    assert len(errors) > 3
    assert all(error.endswith(sentence("files.too_large")) for error in errors), errors
    assert index.count() == 53
    assert len({path.name for path in config.path.iterdir()} - before) == 2
    index.close()


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Whoosh leaves a damaged TOC open
def test_a_damaged_index_is_one_line(config: IndexConfig) -> None:
    index = open_index(config)
    index.apply([IndexDocument("s", "/a", "t", "text")])
    index.close()
    (toc,) = config.path.glob("*.toc")
    toc.write_bytes(toc.read_bytes()[:40])
    with pytest.raises(IndexDamagedError) as caught:
        open_index(config).count()
    assert "\n" not in str(caught.value)
    reason = caught.value.problem.removeprefix(caught.value.damage)
    assert reason
    assert reason not in str(caught.value), "what a library says is for `index check` and the log"
    with pytest.raises(IndexStoreError):
        open_index(config).apply([IndexDocument("s", "/b", "t", "text")])
    del caught
    gc.collect()


def test_a_path_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = open_index(IndexConfig("whoosh", tmp_path / "file" / "index"))
    with pytest.raises(IndexStoreError) as caught:
        index.apply([IndexDocument("s", "/b", "t", "text")])
    assert str(tmp_path / "file") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_process_that_the_system_does_not_start_is_reported_as_what_it_is(
    config: IndexConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    process = IndexProcess(config)
    path = segment(DocumentCache(tmp_path / "cache"), 0, 1)
    with pytest.raises(IndexStoreError, match=sentence("index.index_process_cannot_started_no")):
        process.submit(path)
    assert [report.path for report in process.close(timeout=300)] == [path]
