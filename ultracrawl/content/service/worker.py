"""The program of a conversion process, `python -m ultracrawl.content.service.worker MEMORY SECONDS CONVERTERS`.

It reads jobs from standard input and writes result frames to standard output. Its memory is limited, and it writes no
files, opens no connections and starts no processes. It ends when its input or the crawler ends, by SIGPROF when a
document has had its processor time, and by SIGALRM when it hangs (`system.wall_guard`).
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from ultracrawl.content.converters.conversion import Budget, ConversionError, Sink, Source
from ultracrawl.content.converters.convert import convert
from ultracrawl.content.service.confinement import confine, die_with_crawler
from ultracrawl.content.service.frames import Frame, encode, read_job
from ultracrawl.content.service.job import Job, PageJob
from ultracrawl.errors import is_panic
from ultracrawl.model import StatusCode
from ultracrawl.system.plugins import CONVERTERS
from ultracrawl.system.wall_guard import wall_limit

_FRAME_CHARS = 1 << 17
"""Characters of text in one frame."""
_FRAME_SECONDS = 0.5
"""Seconds after which text is sent before a frame is full."""
_OUT_OF_MEMORY_MESSAGES = ("failed to map segment", "annot allocate memory")
_ALARM_DELAY = 5.0
"""Seconds after the limit on the wall at which the process ends itself, if the crawler has not killed it."""


def main(memory: int, seconds: float) -> None:
    """Process jobs until the end of standard input."""
    die_with_crawler()
    jobs = os.fdopen(os.dup(0), "rb")
    results = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # output of libraries must not mix with the results
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    confine()
    gc.freeze()
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)  # whoever started this one may ignore them
    with suppress(BrokenPipeError):
        while (job := read_job(jobs)) is not None:
            allowed = job.seconds if isinstance(job, PageJob) else seconds
            _set_timers(allowed, wall_limit(allowed) + _ALARM_DELAY)
            _JobRun(results).run(job)
            _set_timers(0, 0)
            del job


def _set_timers(processor: float, wall: float) -> None:
    """Have the system end this process after so many seconds of its processor time, or by the wall; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, processor)
    signal.setitimer(signal.ITIMER_REAL, wall)


class _JobRun:
    """Runs one job, and sends the text as it is extracted."""

    def __init__(self, results: IO[bytes]) -> None:
        self._results = results
        self._text_parts: list[str] = []
        self._size = 0
        self._sent = time.monotonic()

    def run(self, job: Job | PageJob) -> None:
        if isinstance(job, PageJob):
            self._read(job)
        else:
            self._convert(job)

    def _read(self, job: PageJob) -> None:
        try:
            page = job.reader.read(job.body, job.url, job.media_type, job.head)
        except Exception as error:
            # Libraries do not always raise MemoryError when they run out of memory.
            if not (isinstance(error, MemoryError) or _is_half_full()):
                raise
            self._finish({"reason": "it needs too much memory (conversion.memory)"})
            return
        if page is None:
            self._finish({"reason": f"pages of the type {job.media_type} are not read"})
            return
        for part in _split_text(page.text):
            self._write({"text": part})
        self._write({"page": replace(page, text="")})

    def _convert(self, job: Job) -> None:
        sink = Sink(Budget(job.limits), self._add_text)
        source = Source(job.body, job.media_type, job.content_type, "", job.default_charset)
        try:
            convert(source, sink)
        except ConversionError as error:
            self._fail(StatusCode.CONVERSION_FAILED, str(error), sink)
        except MemoryError:
            self._fail(
                StatusCode.CONVERTER_MISSING, "the converter ran out of memory (conversion.memory)", sink
            )
        except BrokenPipeError:
            raise
        except BaseException as error:  # libraries raise anything for broken documents
            if not (isinstance(error, Exception) or is_panic(error)):
                raise
            self._fail(_status_of(error), f"{type(error).__name__}: {error}"[:300], sink)
        else:
            self._finish({"done": sink.conversion()})

    def _add_text(self, text: str) -> None:
        self._text_parts.append(text)
        self._size += len(text)
        if self._size >= _FRAME_CHARS or time.monotonic() - self._sent > _FRAME_SECONDS:
            self._send_text()

    def _send_text(self) -> None:
        if self._text_parts:
            self._write({"text": " ".join(self._text_parts)})
            self._text_parts.clear()
        self._size = 0
        self._sent = time.monotonic()

    def _fail(self, status: StatusCode, reason: str, sink: Sink) -> None:
        self._finish({"status": int(status), "reason": reason, "partial": sink.conversion()})

    def _finish(self, frame: Frame) -> None:
        self._send_text()
        self._write(frame)

    def _write(self, frame: Frame) -> None:
        data = memoryview(encode(frame))
        while data:
            data = data[self._results.write(data) :]


def _is_half_full() -> bool:
    """Return whether the peak memory of this process is more than half of its limit."""
    try:
        status = Path("/proc/self/status").read_bytes()
    except OSError:
        return False
    peak = re.search(rb"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return peak is not None and int(peak[1]) * 1024 > limit // 2


def _split_text(text: str) -> Iterator[str]:
    """Yield a text in parts, split at spaces, which are dropped."""
    start = 0
    while start < len(text):
        end = text.find(" ", start + _FRAME_CHARS)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _status_of(error: BaseException) -> StatusCode:
    """Return 908 if a library could not be loaded for lack of memory, else 903."""
    if not isinstance(error, ImportError):
        return StatusCode.CONVERSION_FAILED
    messages = _OUT_OF_MEMORY_MESSAGES
    lacks_memory = any(text in str(error) for text in messages)  # sentence: dlopen has no code for it
    return StatusCode.CONVERTER_MISSING if lacks_memory else StatusCode.CONVERSION_FAILED


if __name__ == "__main__":
    CONVERTERS.use_plugins(json.loads(sys.argv[3]))
    main(int(sys.argv[1]), float(sys.argv[2]))
