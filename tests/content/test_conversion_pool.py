"""Processes are started when they are needed, used again, replaced after a crash, and gone at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path

import psutil
import pytest
from support import files
from support.sentences import sentence
from support.until import until

from ultracrawl.content.service.frames import LENGTH, encode_job
from ultracrawl.content.service.job import Converted, Job, NotConverted, ProcessLimits
from ultracrawl.content.service.pool import ConversionPool
from ultracrawl.content.service.process import ConversionProcess
from ultracrawl.model import StatusCode
from ultracrawl.system.plugins import CONVERTERS, Plugin

PDF = Job(files.pdf(), "application/pdf")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pool() -> Iterator[ConversionPool]:
    pool = ConversionPool(ProcessLimits(20.0, 512 << 20), workers=2)
    yield pool
    pool.close()


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_nothing_is_started_before_the_first_document(pool: ConversionPool) -> None:
    children = psutil.Process().children()
    assert pool.pids == []
    assert isinstance(pool.submit(PDF).result(20), Converted)
    assert len(pool.pids) == 1
    assert len(psutil.Process().children()) == len(children) + 1


def test_a_process_does_not_know_what_secrets_the_environment_holds(
    pool: ConversionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAFF_PASSWORD", "tulip")
    monkeypatch.setenv("LC_TIME", "C")
    pool.submit(PDF).result(20)
    (pid,) = pool.pids
    known = psutil.Process(pid).environ()
    assert "STAFF_PASSWORD" not in known
    assert (known["LC_TIME"], known["PATH"]) == ("C", os.environ["PATH"])


def test_a_process_is_used_again(pool: ConversionPool) -> None:
    pool.submit(PDF).result(20)
    (pid,) = pool.pids
    for _ in range(3):
        pool.submit(PDF).result(20)
    assert pool.pids == [pid]


def test_as_many_processes_as_allowed_work_at_once(pool: ConversionPool) -> None:
    answers = [pool.submit(PDF) for _ in range(10)]
    assert all(isinstance(answer.result(20), Converted) for answer in answers)
    assert len(pool.pids) == 2


def test_a_process_that_dies_is_replaced(pool: ConversionPool) -> None:
    pool.submit(PDF).result(20)
    (pid,) = pool.pids
    os.kill(pid, signal.SIGKILL)
    answer = pool.submit(PDF).result(20)
    assert isinstance(answer, NotConverted), "it is not known what killed it"
    assert isinstance(pool.submit(PDF).result(20), Converted)
    assert pool.pids != [pid]
    assert gone(pid)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_a_signal_to_the_whole_group_ends_no_process_that_is_starting(sent: signal.Signals) -> None:
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20))
    try:
        os.kill(process.pid, sent)
        assert isinstance(process.convert(PDF), Converted)
    finally:
        process.kill()


def test_a_process_is_replaced_after_many_documents(
    pool: ConversionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracrawl.content.service.pool._MAX_DOCUMENTS", 2)
    seen = set()
    for _ in range(4):
        pool.submit(PDF).result(20)
        seen |= set(pool.pids)
    assert len(seen) == 2


def test_an_error_of_the_thread_reaches_who_waits(
    pool: ConversionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(process: ConversionProcess, job: Job) -> None:
        raise AssertionError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(ConversionProcess, "convert", broken)
        with pytest.raises(AssertionError, match="a bug"):
            pool.submit(PDF).result(20)
    assert isinstance(pool.submit(PDF).result(20), Converted)


def test_close_ends_processes_that_work() -> None:
    pool = ConversionPool(ProcessLimits(60.0, 512 << 20))
    waiting = [pool.submit(Job(files.pdf(["x"] * 5000), "application/pdf")) for _ in range(3)]
    until(lambda: pool.pids)
    (pid,) = pool.pids
    pool.close()
    assert gone(pid)
    assert all(answer.done() for answer in waiting)
    assert isinstance(waiting[0].result(), NotConverted), "what it worked on is not waited for"


def test_a_process_ends_with_the_crawler_that_was_killed() -> None:
    code = (
        "import time\nfrom ultracrawl.content.service.job import ProcessLimits\n"
        "from ultracrawl.content.service.process import ConversionProcess\n"
        "process = ConversionProcess(ProcessLimits(60.0, 512 << 20))\nprint(process.pid, flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as crawler:
        assert crawler.stdout is not None
        pid = int(crawler.stdout.readline())
        crawler.kill()
    until(lambda: gone(pid))


@pytest.mark.parametrize(
    ("converts", "sent"),
    [("while True: pass", signal.SIGPROF), ("import time; time.sleep(3600)", signal.SIGALRM)],
    ids=["it works", "it hangs"],
)
def test_a_process_whose_crawler_is_gone_ends_itself(converts: str, sent: signal.Signals) -> None:
    """The process is left alone with a document for which it has no time."""
    code = (
        "import sys, types\nfrom ultracrawl.content.service import worker\nworker._ALARM_DELAY = 0.0\n"
        "worker.wall_limit = lambda seconds: seconds if 'sleep' in sys.argv[1] else 3600\n"
        "module = types.ModuleType('m')\nexec('def convert(source, sink):\\n ' + sys.argv[1], module.__dict__)\n"
        "sys.modules['ultracrawl.content.converters.json'] = module\nworker.main(512 << 20, 0.2)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, converts],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(encode_job(Job(b"{}", "application/json")) + b"{}")
        process.stdin.flush()
        assert process.wait(60) == -sent


CHATTY = """
import sys
from ultracrawl.content.converters.registry import Converter

CONVERTERS = [Converter("chatty", ("application/x-chatty",))]


def convert(source, sink):
    for _ in range(3):
        sys.stderr.write("a warning of a library " * 10_000)
    sink.add(source.body.decode())
"""


def test_a_converter_may_write_more_to_standard_error_than_a_pipe_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    plugin = Plugin("converters", "chatty", "chatty:CONVERTERS")
    monkeypatch.setattr(CONVERTERS, "_passed_on", (*CONVERTERS.all_plugins(), plugin))
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20))
    try:
        converted = process.convert(Job(b"words", "application/x-chatty"))
        assert isinstance(converted, Converted)
        assert converted.conversion.text == "words"
        assert isinstance(process.convert(PDF), Converted), "what it wrote late is read, too"
    finally:
        process.kill()


def test_a_process_that_reads_no_more_is_ended_in_the_middle_of_a_document() -> None:
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20), wall=later(201.0))
    os.kill(process.pid, signal.SIGSTOP)
    answer = process.convert(Job(bytes(1 << 22), "application/pdf"))
    assert isinstance(answer, NotConverted)
    assert not process.usable


def later(seconds: float) -> Callable[[], float]:
    """Return a clock that leaps by so much after its first look."""
    times = chain([0.0], repeat(seconds))
    return lambda: next(times)


def test_a_document_is_converted_however_late_it_gets_by_the_wall() -> None:
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20), wall=later(199.0))
    try:
        assert isinstance(process.convert(PDF), Converted)
    finally:
        process.kill()


def test_a_process_that_hangs_is_ended_and_the_document_may_be_tried_again() -> None:
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20), wall=later(201.0))
    os.kill(process.pid, signal.SIGSTOP)
    answer = process.convert(PDF)
    assert isinstance(answer, NotConverted)
    assert (answer.status, answer.may_pass) == (StatusCode.CONVERTER_MISSING, True)
    assert not process.usable


@pytest.mark.parametrize(
    ("sent", "may_pass"),
    [(signal.SIGPROF, False), (signal.SIGALRM, True), (signal.SIGKILL, True), (signal.SIGSEGV, True)],
)
def test_what_ends_a_process_tells_whether_to_try_again(sent: signal.Signals, may_pass: bool) -> None:
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20))
    os.kill(process.pid, sent)
    answer = process.convert(PDF)
    assert isinstance(answer, NotConverted)
    assert answer.may_pass is may_pass


def test_a_document_may_be_tried_again_if_no_process_can_be_started(
    pool: ConversionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    answer = pool.submit(PDF).result(20)
    assert isinstance(answer, NotConverted)
    assert answer.may_pass


def test_a_crash_is_no_want_of_memory_because_the_crawler_is_large() -> None:
    ballast = bytearray(b"x") * (200 << 20)
    process = ConversionProcess(ProcessLimits(20.0, 300 << 20))
    del ballast
    os.kill(process.pid, signal.SIGSEGV)
    answer = process.convert(PDF)
    assert isinstance(answer, NotConverted)
    assert answer.reason == "the converter crashed (signal 11)"


def test_memory_is_bounded_by_the_system() -> None:
    process = ConversionProcess(ProcessLimits(20.0, 256 << 20))
    try:
        process.convert(PDF)
        limit = psutil.Process(process.pid).rlimit(psutil.RLIMIT_AS)
        assert limit == (256 << 20, 256 << 20)
        assert psutil.Process(process.pid).rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
    finally:
        process.kill()


def test_an_answer_without_end_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultracrawl.content.service.process._OVERHEAD_BYTES", -(10**9))
    process = ConversionProcess(ProcessLimits(20.0, 512 << 20))
    answer = process.convert(PDF)
    assert isinstance(answer, NotConverted)
    assert answer.status == StatusCode.CONVERTER_MISSING
    assert answer.reason.endswith(sentence("conversion.result_too_large"))
    assert not process.usable


def test_jobs_travel_whole() -> None:
    import io

    from ultracrawl.content.service.frames import read_job

    job = Job(b"\0body\xff", "text/csv", "text/csv; charset=x", "cp1252")
    assert read_job(io.BytesIO(encode_job(job) + job.body)) == job
    assert read_job(io.BytesIO(b"")) is None
    assert read_job(io.BytesIO(LENGTH.pack(5)[:2])) is None
    assert read_job(io.BytesIO(encode_job(job) + b"short")) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere an alarm ends it")
def test_a_process_whose_crawler_went_while_it_started_ends_at_once() -> None:
    command = [sys.executable, "-m", "ultracrawl.content.service.worker", str(512 << 20), "60", "[]"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(20) == 0, "although its input is still open"
