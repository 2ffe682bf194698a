"""The program of a conversion process, `python -m ultracrawl.content.service.worker MEMORY SECONDS CONVERTERS`.

It reads jobs from standard input and answers each with frames on standard output. It has a bound of its own on
memory, writes no file, opens no connection and starts no process. It ends when its input ends or the crawler is gone,
and by an alarm of the system when a document takes too long.
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

_PIECE = 1 << 17
"""Characters of text that are sent in one frame."""
_PIECE_SECONDS = 0.5
_NO_ROOM = ("failed to map segment", "annot allocate memory")
_ALARM_DELAY = 5.0
"""Seconds after which the process ends itself, if the crawler has not killed it before."""


def main(memory: int, seconds: float) -> None:
    """Serve until standard input ends."""
    die_with_crawler()
    jobs = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    confine()
    gc.freeze()
    with suppress(BrokenPipeError):
        while (job := read_job(jobs)) is not None:
            allowed = job.seconds if isinstance(job, PageJob) else seconds
            signal.setitimer(signal.ITIMER_REAL, allowed + _ALARM_DELAY)
            _Conversation(answers).run(job)
            signal.setitimer(signal.ITIMER_REAL, 0)
            del job


class _Conversation:
    """Converts one document and sends its text while it is found."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._pieces: list[str] = []
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
            # What libraries raise when they get no memory need not be a MemoryError.
            if not (isinstance(error, MemoryError) or _is_half_full()):
                raise
            self._end({"reason": "it needs too much memory (conversion.memory)"})
            return
        if page is None:
            self._end({"reason": f"pages of the type {job.media_type} are not read"})
            return
        for piece in _pieces(page.text):
            self._write({"text": piece})
        self._write({"page": replace(page, text="")})

    def _convert(self, job: Job) -> None:
        sink = Sink(Budget(job.limits), self._take)
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
        except BaseException as error:  # the edge: whatever a broken document makes a library raise
            if not (isinstance(error, Exception) or is_panic(error)):
                raise
            self._fail(_status_of(error), f"{type(error).__name__}: {error}"[:300], sink)
        else:
            self._end({"done": sink.conversion()})

    def _take(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= _PIECE or time.monotonic() - self._sent > _PIECE_SECONDS:
            self._send_text()

    def _send_text(self) -> None:
        if self._pieces:
            self._write({"text": " ".join(self._pieces)})
            self._pieces.clear()
        self._size = 0
        self._sent = time.monotonic()

    def _fail(self, status: StatusCode, reason: str, sink: Sink) -> None:
        self._end({"status": int(status), "reason": reason, "partial": sink.conversion()})

    def _end(self, frame: Frame) -> None:
        self._send_text()
        self._write(frame)

    def _write(self, frame: Frame) -> None:
        data = memoryview(encode(frame))
        while data:
            data = data[self._answers.write(data) :]


def _is_half_full() -> bool:
    """Return whether this process has ever had more than half of its memory."""
    try:
        status = Path("/proc/self/status").read_bytes()
    except OSError:
        return False
    most = re.search(rb"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    bound, _ = resource.getrlimit(resource.RLIMIT_AS)
    return most is not None and int(most[1]) * 1024 > bound // 2


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, which make it up again with a blank between each two."""
    start = 0
    while start < len(text):
        end = text.find(" ", start + _PIECE)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _status_of(error: BaseException) -> StatusCode:
    """Return 908 for a library for which there was no room, 903 for all else."""
    if not isinstance(error, ImportError):
        return StatusCode.CONVERSION_FAILED
    no_room = any(words in str(error) for words in _NO_ROOM)  # sentence: dlopen has no code for it
    return StatusCode.CONVERTER_MISSING if no_room else StatusCode.CONVERSION_FAILED


if __name__ == "__main__":
    CONVERTERS.use_plugins(json.loads(sys.argv[3]))
    main(int(sys.argv[1]), float(sys.argv[2]))
