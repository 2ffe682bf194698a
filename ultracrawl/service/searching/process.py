"""One search process, as the service sees it."""

from __future__ import annotations

import math
import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

from ultracrawl.errors import WorkError
from ultracrawl.service.metrics.machine import private_bytes, processor_seconds
from ultracrawl.service.searching.messages import Answer, Request, Task
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.orders import SearchEndedError
from ultracrawl.sources import Project
from ultracrawl.system.fork_server import start_process
from ultracrawl.system.wall_guard import START_LIMIT, WALL, Clock, wall_limit

_SERVER_SHARE = 0.7
"""Share of the time of a search that a server of its index has for an answer: a search that is ended says less."""
_END_SECONDS = 2.0
"""Seconds that an idle process has to end."""


class ProcessGoneError(SearchEndedError):
    """A process that was idle had died before it got the request: another one can answer it."""


class SearchProcess:
    """A process that answers one request at a time. Its methods block, and are called in threads."""

    def __init__(
        self,
        options: SearchingOptions,
        used: Callable[[int], float] = processor_seconds,
        wall: Clock = WALL,
    ) -> None:
        """Start the process; `used` returns the processor time of a process with an id. Raises `WorkError`."""
        self._options = options
        self._used = used
        self._wall = wall
        self._project: Project | None = None
        """The project that the process has."""
        self._lock = threading.Lock()
        """Held while the search begins, ends or is ended."""
        self._allowed = self._deadline = math.inf
        """When the search is ended: by the processor time of the process, and by the clock on the wall."""
        self._end_reason = ""
        """Why the service has killed it."""
        try:
            self._process, self._pipe = start_process(
                _run, options.document_cache, _SERVER_SHARE * options.timeout, name="search", daemon=True
            )
        except (OSError, EOFError) as error:
            raise _no_process(error) from error
        try:
            if not self._pipe.poll(START_LIMIT):
                raise TimeoutError(f"it did not start within {START_LIMIT:.0f} s")
            self._pipe.recv_bytes()
        except (OSError, EOFError) as error:
            self.end_process()
            raise _no_process(error) from error

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it is still there, if it is idle: an idle process writes nothing, but its end can be read."""
        return not self._pipe.poll()

    @property
    def is_new(self) -> bool:
        """Whether it has not answered yet."""
        return self._project is None

    @property
    def is_large(self) -> bool:
        """Whether it has grown so much that it is better replaced."""
        return private_bytes(self.pid) > self._options.large

    def answer(self, project: Project, request: Request) -> Answer:
        """Return the answer to a request.

        Raises `SearchEndedError`, `ProcessGoneError` if the request did not reach it; then the process is at its end.
        """
        message = pickle.dumps(Task(request, None if project is self._project else project))
        with self._lock:
            self._allowed = self._used(self.pid) + self._options.timeout
            self._deadline = self._wall() + wall_limit(self._options.timeout)
        answer, has_begun = None, False
        try:
            self._pipe.send_bytes(message)
            self._pipe.recv_bytes()
            has_begun = True
            answer = pickle.loads(self._pipe.recv_bytes())  # noqa: S301 - from our own process
        except (OSError, EOFError):
            pass
        with self._lock:
            self._deadline = math.inf
        if not isinstance(answer, Answer) or self._end_reason:
            error = SearchEndedError if has_begun or self._end_reason else ProcessGoneError
            raise error(f"the search was ended: {self._end_reason or 'its process died; try again'}")
        self._project = project
        return answer

    def check(self) -> None:
        """Kill the process if its search takes too long, or too much memory."""
        with self._lock:
            if self._deadline == math.inf:
                return
            seconds = self._options.timeout
            if self._used(self.pid) > self._allowed:
                self._kill(f"it took longer than {seconds:g} s of processor time; make the query narrower")
            elif self._wall() > self._deadline:
                self._kill(f"it did not return within {wall_limit(seconds):g} s")
            elif private_bytes(self.pid) > self._options.too_large:
                self._kill(f"it took more than {self._options.too_large / 1e6:,.0f} MB of memory")

    def interrupt(self) -> None:
        """Kill the process because the service ends."""
        with self._lock:
            self._kill("the service ends")

    def end_process(self) -> None:
        """End the process, which answers nothing at present."""
        with suppress(OSError):
            self._pipe.close()
        self._process.join(_END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _kill(self, reason: str) -> None:
        self._end_reason = self._end_reason or reason
        # Not by `kill` of the process: after the death of its fork server that takes it for dead, and does nothing.
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _no_process(error: OSError | EOFError) -> WorkError:
    return WorkError(f"the process for searches cannot be started: {error or 'it died'}")


def _run(document_cache: int, patience: float, service: Connection) -> None:
    from ultracrawl.service.searching.worker import serve_searches  # noqa: PLC0415 - only search processes need it

    serve_searches(service, document_cache, patience)
