"""One conversion process, as the crawler sees it: started, given documents, killed when one takes too long."""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from ultracrawl.content.service.frames import LENGTH, Frame, encode_job, unpack_conversion, unpack_page
from ultracrawl.content.service.job import (
    Answer,
    Converted,
    Job,
    NotConverted,
    PageJob,
    PageLost,
    PageRead,
    ProcessLimits,
)
from ultracrawl.model import Conversion, StatusCode
from ultracrawl.system.plugins import CONVERTERS

_READ = 1 << 16
_LAST_WORDS = 2000
_OVERHEAD = 64 << 20
"""Bytes of answers beside the text itself that are accepted from a process; one that sends more is killed."""
_VARIABLES = ("PATH", "HOME", "LANG", "TZ", "LC_", "LD_", "PYTHON", "VIRTUAL_ENV")
"""Beginnings of the names of environment variables that a process gets; secrets of definitions have others."""
_OF_THE_GROUP = {signal.SIGINT, signal.SIGHUP, signal.SIGTERM}
"""What a Ctrl-C, the end of a terminal and the stop of a service send to the crawler and all that it started."""
_MEMORY_WORDS = (b"memory allocation", b"out of memory", b"MemoryError", b"bad_alloc")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)}


@contextmanager
def _signals_held() -> Iterator[None]:
    """Start children with signals blocked that go to a whole process group: the crawler decides when they end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_GROUP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ConversionProcess:
    """A child that converts documents, driven by the thread that made it; it ends with that thread."""

    def __init__(self, limits: ProcessLimits) -> None:
        self._limits = limits
        command = [
            sys.executable,
            "-m",
            "ultracrawl.content.service.worker",
            str(limits.memory),
            str(limits.seconds),
            json.dumps([[one.name, one.reference] for one in CONVERTERS.all_plugins()]),
        ]
        with _signals_held():
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=_environment(),
            )
        self._inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        """What the system takes for the memory that the process had at its birth: the most that this one ever had."""
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)
        self._words = b""
        self.usable = True
        """Whether it takes another document."""

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def convert(self, job: Job | PageJob) -> Answer:
        """Convert a document or read a page; waits until that is done, at most for the time of the limits."""
        seconds, option = self._limits.seconds, "conversion.timeout"
        if isinstance(job, PageJob):
            seconds, option = job.seconds, "limits.seconds_per_page"
        exchange = _Exchange(job, time.monotonic() + seconds)
        try:
            ended = self._exchange(exchange)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self.kill()
            return exchange.broken(f"the conversion process failed: {error}")
        if ended is None:
            self.kill()
            return exchange.broken(f"it took longer than {seconds:g} s ({option})")
        if ended is False:
            return self._died(exchange)
        answer = exchange.answer()
        broken = isinstance(answer, NotConverted) and answer.status is StatusCode.CONVERTER_MISSING
        if broken or isinstance(answer, PageLost):
            self.kill()  # its memory may be fragmented
        return answer

    def _exchange(self, exchange: _Exchange) -> bool | None:
        """Send the job and gather the answer; True if it is whole, False if the process died, None after the time."""
        stdin, stdout, stderr = self._streams()
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                ready = selector.select(max(0.0, exchange.deadline - time.monotonic()))
                if not ready and time.monotonic() >= exchange.deadline:
                    return None
                for key, _ in ready:
                    if key.fileobj is stdin and not exchange.send(stdin):
                        selector.unregister(stdin)
                    elif key.fileobj is stderr and not self._listen(stderr):
                        selector.unregister(stderr)
                    elif key.fileobj is stdout and (data := stdout.read(_READ)) is not None:
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

    def _listen(self, stderr: IO[bytes]) -> bool:
        words = stderr.read(_READ)
        self._words = (self._words + (words or b""))[-_LAST_WORDS:]
        return words != b""

    def _died(self, exchange: _Exchange) -> NotConverted | PageLost:
        """Return why the process died: out of memory, or because the document broke it."""
        _, status, usage = os.wait4(self.pid, 0)
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        self._listen(self._streams()[2])
        self.kill()
        words = any(word in self._words for word in _MEMORY_WORDS)
        grown = usage.ru_maxrss > self._inherited and usage.ru_maxrss * 1024 > self._limits.memory // 2
        if words or code == -9 or grown:
            return exchange.broken("the converter ran out of memory (conversion.memory)")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return exchange.broken(f"the converter crashed ({how})")

    def interrupt(self) -> None:
        """Kill the process from another thread; the one that waits for it sees that and tidies up."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End the process at once; does nothing to one that is gone."""
        self.usable = False
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        for stream in self._streams():
            with suppress(OSError):
                stream.close()


class _Exchange:
    """What was sent and received for one job."""

    def __init__(self, job: Job | PageJob, deadline: float) -> None:
        self._is_page = isinstance(job, PageJob)
        text = job.reader.limits.text if isinstance(job, PageJob) else job.limits.text
        self.deadline = deadline
        self._waiting = [memoryview(job.body), memoryview(encode_job(job))]
        self._left = 6 * text + _OVERHEAD
        self._received = bytearray()
        self._texts: list[str] = []
        self._last: Frame = {}

    def send(self, stdin: IO[bytes]) -> bool:
        """Write as much as is taken now; False when all is sent, or nobody reads any more."""
        while self._waiting:
            piece = self._waiting[-1]
            try:
                written = stdin.write(piece[: 1 << 20]) if piece else 0
            except BrokenPipeError:
                return False
            if written is None:
                return True
            self._waiting[-1] = piece[written:]
            if not self._waiting[-1]:
                self._waiting.pop()
        return False

    def receive(self, data: bytes) -> bool:
        """Take a part of the answer; True when it is whole. Raises `ValueError` for what is no answer."""
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("it answers without end")
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

    def answer(self) -> Answer:
        """Return the whole answer. Raises `KeyError`, `TypeError` or `ValueError` for what is no answer."""
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

    def broken(self, reason: str) -> NotConverted | PageLost:
        """Return that the document broke its converter, with the text that had come before."""
        if self._is_page:
            return PageLost(reason)
        text = " ".join(self._texts)
        status = StatusCode.CONVERTER_MISSING
        return NotConverted(status, reason, Conversion(text=text) if text else None)
