"""The crawler's side of a conversion process: starts it, sends jobs, and kills it if it hangs."""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from ultracrawl.content.service.frames import LENGTH, Frame, encode_job, unpack_conversion, unpack_page
from ultracrawl.content.service.job import (
    Converted,
    Job,
    JobResult,
    NotConverted,
    PageJob,
    PageLost,
    PageRead,
    ProcessLimits,
)
from ultracrawl.model import Conversion, StatusCode
from ultracrawl.system.plugins import CONVERTERS
from ultracrawl.system.wall_guard import WALL, Clock, wall_limit

_READ_BYTES = 1 << 16
_STDERR_BYTES = 2000
"""Bytes kept of the standard error."""
_OVERHEAD_BYTES = 64 << 20
"""Maximum bytes of a result in addition to its text; a process that sends more is killed."""
_VARIABLE_PREFIXES = ("PATH", "HOME", "LANG", "TZ", "LC_", "LD_", "PYTHON", "VIRTUAL_ENV")
"""Prefixes of the environment variables passed to a process; secrets of definitions have other names."""
_GROUP_SIGNALS = {signal.SIGINT, signal.SIGHUP, signal.SIGTERM}
"""Signals that Ctrl-C, a closed terminal or a service manager sends to the whole process group."""
_OUT_OF_MEMORY_MESSAGES = (b"memory allocation", b"out of memory", b"MemoryError", b"bad_alloc")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_VARIABLE_PREFIXES)}


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block signals to the process group, which children inherit: the crawler decides when they end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _GROUP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ConversionProcess:
    """A child process that converts documents; it ends with the thread that started it."""

    def __init__(self, limits: ProcessLimits, wall: Clock = WALL) -> None:
        """Start the process, which bounds its own processor time; `wall` ends what hangs. Raises `OSError`."""
        self._limits = limits
        self._wall = wall
        command = [
            sys.executable,
            "-m",
            "ultracrawl.content.service.worker",
            str(limits.memory),
            str(limits.seconds),
            json.dumps([[plugin.name, plugin.reference] for plugin in CONVERTERS.all_plugins()]),
        ]
        with _blocked_signals():
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=_environment(),
            )
        self._inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        """Peak memory of this process, with which the kernel starts the count of the child."""
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)
        self._stderr = b""
        self.usable = True
        """Whether the process accepts another job."""

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def convert(self, job: Job | PageJob) -> JobResult:
        """Convert a document or parse a page; blocks until it is done, at most for the `wall_limit` of its seconds."""
        seconds, option = self._limits.seconds, "conversion.timeout"
        if isinstance(job, PageJob):
            seconds, option = job.seconds, "limits.seconds_per_page"
        allowed = f"{seconds:g} s of processor time ({option})"
        hung = f"it did not return within {wall_limit(seconds):g} s, and took less than {allowed}"
        exchange = _Exchange(job, self._wall() + wall_limit(seconds))
        try:
            is_complete = self._exchange(exchange)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self.kill()
            reason = f"the conversion process failed: {error}"
            return exchange.failed_result(reason, may_pass=isinstance(error, OSError))
        if is_complete is None:
            self.kill()
            return exchange.failed_result(hung, may_pass=True)
        if is_complete is False:
            return self._handle_exit(exchange, f"it took longer than {allowed}", hung)
        result = exchange.result()
        has_crashed = isinstance(result, NotConverted) and result.status is StatusCode.CONVERTER_MISSING
        if has_crashed or isinstance(result, PageLost):
            self.kill()  # its memory may be fragmented
        return result

    def _exchange(self, exchange: _Exchange) -> bool | None:
        """Send the job and receive the result; True if complete, False if the process died, None after the time-out."""
        stdin, stdout, stderr = self._streams()
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                ready = selector.select(max(0.0, exchange.deadline - self._wall()))
                if not ready and self._wall() >= exchange.deadline:
                    return None
                for key, _ in ready:
                    if key.fileobj is stdin and not exchange.send(stdin):
                        selector.unregister(stdin)
                    elif key.fileobj is stderr and not self._read_stderr(stderr):
                        selector.unregister(stderr)
                    elif key.fileobj is stdout and (data := stdout.read(_READ_BYTES)) is not None:
                        if not data:
                            return False
                        if exchange.receive(data):
                            return True

    def _streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdin, process.stdout, process.stderr

    def _read_stderr(self, stderr: IO[bytes]) -> bool:
        data = stderr.read(_READ_BYTES)
        self._stderr = (self._stderr + (data or b""))[-_STDERR_BYTES:]
        return data != b""

    def _handle_exit(self, exchange: _Exchange, too_long: str, hung: str) -> NotConverted | PageLost:
        """Return why the process died: out of time or memory, a crash of the converter, or killed by somebody else."""
        _, status, usage = os.wait4(self.pid, 0)
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        self._read_stderr(self._streams()[2])
        self.kill()
        has_message = any(message in self._stderr for message in _OUT_OF_MEMORY_MESSAGES)
        has_grown = usage.ru_maxrss > self._inherited and usage.ru_maxrss * 1024 > self._limits.memory // 2
        if code == -signal.SIGPROF:
            return exchange.failed_result(too_long)
        if code == -signal.SIGALRM:
            return exchange.failed_result(hung, may_pass=True)
        killed = code == -signal.SIGKILL  # by the system, when others have taken the memory, or by a person
        if has_message or has_grown:
            reason = "the converter ran out of memory (conversion.memory)"
            return exchange.failed_result(reason, may_pass=killed)
        if killed:
            reason = "its conversion process was killed, as by a system that is short of memory"
            return exchange.failed_result(reason, may_pass=True)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return exchange.failed_result(f"the converter crashed ({how})", may_pass=True)

    def interrupt(self) -> None:
        """Kill the process from another thread; the thread that waits for it cleans up."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill the process, if it still runs, and close its pipes."""
        self.usable = False
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        for stream in self._streams():
            with suppress(OSError):
                stream.close()


class _Exchange:
    """The data sent and received for one job."""

    def __init__(self, job: Job | PageJob, deadline: float) -> None:
        self._is_page = isinstance(job, PageJob)
        text = job.reader.limits.text if isinstance(job, PageJob) else job.limits.text
        self.deadline = deadline
        self._waiting = [memoryview(job.body), memoryview(encode_job(job))]
        self._left = 6 * text + _OVERHEAD_BYTES
        self._received = bytearray()
        self._texts: list[str] = []
        self._last: Frame = {}

    def send(self, stdin: IO[bytes]) -> bool:
        """Write as much as possible without blocking; False when all is sent, or the pipe is closed."""
        while self._waiting:
            data = self._waiting[-1]
            try:
                written = stdin.write(data[: 1 << 20]) if data else 0
            except BrokenPipeError:
                return False
            if written is None:
                return True
            self._waiting[-1] = data[written:]
            if not self._waiting[-1]:
                self._waiting.pop()
        return False

    def receive(self, data: bytes) -> bool:
        """Add received data; return whether the result is complete. Raises `ValueError` for an invalid result."""
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("the result is too large")
        self._received += data
        while len(self._received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                return False
            frame = json.loads(bytes(self._received[LENGTH.size : end]))
            del self._received[:end]
            if "text" not in frame:
                self._last = frame
                return True
            self._texts.append(str(frame["text"]))
        return False

    def result(self) -> JobResult:
        """Return the complete result. Raises `KeyError`, `TypeError` or `ValueError` for an invalid one."""
        text = " ".join(self._texts)
        if "page" in self._last:
            return PageRead(unpack_page(self._last["page"], text))
        if self._is_page:
            return PageLost(str(self._last["reason"]))
        if "done" in self._last:
            return Converted(unpack_conversion(self._last["done"], text))
        partial = unpack_conversion(self._last["partial"], text)
        status = StatusCode(self._last["status"])
        return NotConverted(status, str(self._last["reason"]), partial if partial.text else None)

    def failed_result(self, reason: str, *, may_pass: bool = False) -> NotConverted | PageLost:
        """Return the result for a failed process, with the text received before."""
        if self._is_page:
            return PageLost(reason, may_pass)
        text = " ".join(self._texts)
        status = StatusCode.CONVERTER_MISSING
        return NotConverted(status, reason, Conversion(text=text) if text else None, may_pass)
