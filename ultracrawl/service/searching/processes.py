"""The search processes of a service."""

from __future__ import annotations

import math
import threading

from anyio import CapacityLimiter, to_thread

from ultracrawl.service.searching.messages import Answer, Request
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.process import ProcessGoneError, SearchProcess
from ultracrawl.sources import Project

_CHECK_SECONDS = 0.25
"""Seconds between two looks at the time and memory of running searches."""


class SearchProcesses:
    """As many processes as searches run at a time; each is started by the first search that needs it."""

    def __init__(self, options: SearchingOptions) -> None:
        self._options = options
        self._idle: list[SearchProcess] = []
        self._busy: set[SearchProcess] = set()
        self._changed = threading.Condition()
        """Guards both, and wakes the watch."""
        self._end_watch: threading.Event | None = None
        """Ends the watch, if there is one."""
        self._threads = CapacityLimiter(math.inf)

    async def answer(self, project: Project, request: Request) -> Answer:
        """Return the answer to a request. Raises `SearchEndedError`, `WorkError`."""
        return await to_thread.run_sync(self._answer, project, request, limiter=self._threads)

    def pids(self) -> list[int]:
        """Return the ids of the processes."""
        with self._changed:
            return sorted(one.pid for one in (*self._idle, *self._busy))

    def close(self) -> None:
        """End all processes; running searches are interrupted. A later search starts new ones."""
        with self._changed:
            if self._end_watch is not None:
                self._end_watch.set()
                self._end_watch = None
            idle, self._idle = self._idle, []
            busy = list(self._busy)
            self._changed.notify_all()
        for process in busy:
            process.interrupt()
        for process in idle:
            process.end_process()

    def _answer(self, project: Project, request: Request) -> Answer:
        while True:
            process = self._take()
            keep = False
            try:
                answer = process.answer(project, request)
                keep = not process.is_large
                return answer
            except ProcessGoneError:
                if process.is_new:
                    raise
            finally:
                self._put_back(process, keep=keep)

    def _take(self) -> SearchProcess:
        """Return a process for one search: the idle one that was used last, or a new one."""
        while True:
            with self._changed:
                process = self._idle.pop() if self._idle else None
                if process is not None and process.is_alive:
                    self._begin(process)
                    return process  # one that is dead is replaced
            if process is None:
                break
            process.end_process()
        process = SearchProcess(self._options)
        with self._changed:
            self._begin(process)
        return process

    def _begin(self, process: SearchProcess) -> None:
        self._busy.add(process)
        if self._end_watch is None:
            end = self._end_watch = threading.Event()
            threading.Thread(target=self._check_busy, args=(end,), name="searches", daemon=True).start()
        self._changed.notify_all()

    def _put_back(self, process: SearchProcess, *, keep: bool) -> None:
        with self._changed:
            self._busy.discard(process)
            if keep:
                self._idle.append(process)
        if not keep:
            process.end_process()

    def _check_busy(self, end: threading.Event) -> None:
        """Check the running searches until the end."""
        while not end.wait(_CHECK_SECONDS):
            with self._changed:
                self._changed.wait_for(lambda: self._busy or end.is_set())
                busy = list(self._busy)
            for process in busy:
                process.check()
