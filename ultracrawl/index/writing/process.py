"""Runs the index engine, or another destination, in a separate process, so that the crawler never waits for it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.destinations.destination_config import DestinationConfig
from ultracrawl.index.engine import Json
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.writing.segments import Committed, Failed, Report
from ultracrawl.index.writing.sharing import connect_to_owner
from ultracrawl.index.writing.worker_handles import JoinedWorker, StartedWorker

_CLOSE_POLL_SECONDS = 0.02
_ATTEMPTS = 3
"""How often a question is put to a process: one may have died, and another one may not have let us join it."""


class IndexProcess:
    """Submits sealed segments to a worker process and collects its reports; only `ask` and `close` block.

    The worker starts with `prepare` or the first segment; if another crawl feeds the index already, its worker is used.
    If the worker dies, it is started (or another one joined) once more for the segments without a report; after a
    second death in a row they are reported as failed, and a later `submit` starts a new one. The worker ends when its
    input is closed and no other crawl has joined it, so it outlives killed crawlers by no more than the current batch.
    """

    def __init__(self, config: IndexConfig | DestinationConfig) -> None:
        self._config = config
        self._worker: StartedWorker | JoinedWorker | None = None
        self._waiting: list[Path] = []
        self._received = b""
        self._reports: list[Report] = []
        """Reports that have arrived while an answer was waited for."""
        self._answers: list[dict[str, Any]] = []
        self._restarted = False

    def prepare(self) -> None:
        """Start the worker ahead of the first segment."""
        if self._worker is None:
            self._start()

    def submit(self, path: Path) -> None:
        """Queue a sealed segment of the document cache; it is reported once, by `poll` or `close`."""
        self._waiting.append(path)
        if self._worker is None:
            self._start()
        else:
            self._send(path)

    def ask(self, question: Mapping[str, Json]) -> Mapping[str, Any]:
        """Return the answer to a question about the index (`questions`), after what was submitted before.

        A process that dies is started anew, a few times. Raises `IndexStoreError` if that does not help.
        """
        line, reason = json.dumps(question).encode(), ""
        for _ in range(_ATTEMPTS):
            self.prepare()
            assert self._worker is not None
            self._worker.send_line(line)
            if (answer := self._awaited_answer(self._worker)) is not None:
                return answer
            reason = self._worker.exit_reason()
            self._reports += self._recover()
        raise IndexStoreError(reason)

    def _awaited_answer(self, worker: StartedWorker | JoinedWorker) -> dict[str, Any] | None:
        """Return the next answer, None if the process has ended without one."""
        while not self._answers:
            ended = worker.has_ended
            self._reports += self._receive()
            if self._answers:
                break
            if ended:
                return None
            worker.wait()
        return self._answers.pop(0)

    def poll(self) -> list[Report]:
        """Return the reports since the last call; call it about every 0.1 to 0.5 seconds."""
        earlier, self._reports = self._reports, []
        if self._worker is None:
            return earlier
        ended = self._worker.has_ended
        reports = self._receive()
        if reports:
            self._restarted = False
        if ended:
            reports += self._recover()
        return earlier + reports

    def close(self, timeout: float = 60.0) -> list[Report]:
        """End the worker after its segments, and return the last reports.

        A worker that takes longer than `timeout` seconds is killed; the index is then as after the last commit, and the
        segments are still in the cache.
        """
        reports, self._reports = self._reports, []
        deadline = time.monotonic() + timeout
        while self._waiting and self._worker is not None and time.monotonic() < deadline:
            reports += self.poll()
            if self._waiting:
                time.sleep(_CLOSE_POLL_SECONDS)
        if self._worker is not None:
            reports += self._receive()
        self._stop(max(0.5, deadline - time.monotonic()))
        reports += [Failed(path, f"not indexed within {timeout:g} seconds") for path in self._waiting]
        self._waiting = []
        return reports

    def _start(self, *, is_taken: bool = False) -> None:
        """Join the worker of another crawl, or start one, and submit all waiting segments. Raises `IndexStoreError`.

        `is_taken`: the address of the index is bound by a process that cannot be joined (of another user, or just
        ending); the worker then runs without an address.
        """
        self._received = b""
        visible = self._config.to_json()
        shared = self._config.shared_name() if isinstance(self._config, IndexConfig) else ""
        if shared and (joined := connect_to_owner(shared)) is not None:
            self._worker = JoinedWorker(joined)
        else:
            alone = json.dumps({**json.loads(visible), "alone": True})
            self._worker = StartedWorker(alone if is_taken else visible)
            if self._config.has_options:
                self._worker.send_line(self._config.options_to_json().encode())
        for path in self._waiting:
            self._send(path)

    def _send(self, path: Path) -> None:
        assert self._worker is not None
        # The next poll detects a worker that has ended, and sends everything again.
        self._worker.send_line(json.dumps(str(path)).encode())

    def _receive(self) -> list[Report]:
        assert self._worker is not None
        self._received += self._worker.receive()
        *lines, self._received = self._received.split(b"\n")
        reports: list[Report] = []
        for reply in map(json.loads, lines):
            if "others" in reply:
                self._worker.other_crawls = reply["others"]
            elif "answer" in reply:
                self._answers.append(reply["answer"])
            else:
                reports.append(_report(reply))
        for report in reports:
            self._waiting.remove(report.path)
        return reports

    def _recover(self) -> list[Report]:
        """Restart a dead worker once; after that report its segments as failed."""
        assert self._worker is not None
        elsewhere, reason = self._worker.is_owned_elsewhere, self._worker.exit_reason()
        self._stop(0.5)
        if not self._waiting and not elsewhere:
            return []
        if elsewhere or not self._restarted:
            self._restarted = self._restarted or not elsewhere
            try:
                self._start(is_taken=elsewhere)
            except IndexStoreError as error:
                reason = str(error)
            else:
                return []
        self._restarted = False
        failed: list[Report] = [Failed(path, reason) for path in self._waiting]
        self._waiting = []
        return failed

    def _stop(self, timeout: float) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.close(timeout)


def _report(reply: dict[str, Any]) -> Report:
    path = Path(reply["path"])
    if "failed" in reply:
        return Failed(path, reply["failed"])
    return Committed(path, reply["added"], reply["seconds"], tuple(reply["remarks"]))
