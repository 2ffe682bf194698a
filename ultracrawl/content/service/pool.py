"""A pool of conversion processes."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue

from ultracrawl.content import service
from ultracrawl.content.service.job import Job, JobResult, NotConverted, PageJob, PageLost, ProcessLimits
from ultracrawl.model import StatusCode
from ultracrawl.system.wall_guard import WALL, Clock

_Task = tuple[Job | PageJob, "Future[JobResult]"]
_MAX_DOCUMENTS = 500
"""Documents after which a process is replaced, because libraries leak memory."""


class ConversionPool:
    """Up to `workers` processes, each with a thread that waits for it.

    Threads and processes start with the first documents, so an unused pool costs nothing. A process that was killed or
    crashed is replaced with the next document.
    """

    def __init__(self, limits: ProcessLimits, workers: int = 1, wall: Clock = WALL) -> None:
        """Initialise; `wall` is the clock by which processes that hang are noticed."""
        self._limits = limits
        self._wall = wall
        self._workers = workers
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, service.ConversionProcess] = {}
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The ids of the running processes."""
        with self._lock:
            return [process.pid for process in self._processes.values() if process.usable]

    def submit(self, job: Job | PageJob) -> Future[JobResult]:
        """Queue a document; the future is resolved in another thread."""
        future: Future[JobResult] = Future()
        with self._lock:
            self._waiting += 1
            if self._waiting > len(self._threads) and len(self._threads) < self._workers:
                self._start_thread()
        self._tasks.put((job, future))
        return future

    def _start_thread(self) -> None:
        number = len(self._threads)
        # A daemon thread: the interpreter must not wait at exit for a document that hangs.
        thread = threading.Thread(
            target=self._serve, args=(number,), name=f"conversion-{number}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _serve(self, number: int) -> None:
        served = 0
        while (task := self._tasks.get()) is not None:
            job, future = task
            if future.set_running_or_notify_cancel():
                self._settle(number, job, future)
                served += 1
            with self._lock:
                self._waiting -= 1
            if served >= _MAX_DOCUMENTS:
                served = 0
                self._discard(number)

    def _settle(self, number: int, job: Job | PageJob, future: Future[JobResult]) -> None:
        try:
            future.set_result(self._convert(number, job))
        except BaseException as error:  # the future must be resolved in any case
            future.set_exception(error)

    def _convert(self, number: int, job: Job | PageJob) -> JobResult:
        try:
            process = self._process(number)
        except OSError as error:
            reason = f"no conversion process can be started: {error}"
            return _unserved(job, reason, StatusCode.CONVERTER_MISSING, may_pass=True)
        if process is None:
            return _unserved(job, "conversion was ended", StatusCode.CONVERSION_FAILED)
        return process.convert(job)

    def _process(self, number: int) -> service.ConversionProcess | None:
        with self._lock:
            process = self._processes.get(number)
            if self._closed:
                return None
            if process is None or not process.usable:
                process = self._processes[number] = service.ConversionProcess(self._limits, self._wall)
            return process

    def _discard(self, number: int) -> None:
        with self._lock:
            process = self._processes.pop(number, None)
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill all processes; waiting and running jobs are abandoned."""
        with self._lock:
            self._closed = True
            processes = list(self._processes.values())
        for process in processes:
            process.interrupt()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(timeout=5.0)
        for process in processes:
            with suppress(OSError):
                process.kill()


def _unserved(
    job: Job | PageJob, reason: str, status: StatusCode, *, may_pass: bool = False
) -> NotConverted | PageLost:
    """Return the result of a job for which no process was available."""
    if isinstance(job, PageJob):
        return PageLost(reason, may_pass)
    return NotConverted(status, reason, may_pass=may_pass)
