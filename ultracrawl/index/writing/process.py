"""Runs the index engine, or another destination, in a separate process, so that the crawler never waits for it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.destinations.destination_config import DestinationConfig
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.writing.segments import Committed, Failed, Report
from ultracrawl.index.writing.sharing import connect_to_owner
from ultracrawl.index.writing.worker_handles import JoinedWorker, StartedWorker

_CLOSE_POLL_SECONDS = 0.02


class IndexProcess:
    """Submits sealed segments to a worker process and collects its reports; only `close` blocks.

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

    def poll(self) -> list[Report]:
        """Return the reports since the last call; call it about every 0.1 to 0.5 seconds."""
        if self._worker is None:
            return []
        ended = self._worker.has_ended
        reports = self._receive()
        if reports:
            self._restarted = False
        if ended:
            reports += self._recover()
        return reports

    def close(self, timeout: float = 60.0) -> list[Report]:
        """End the worker after its segments, and return the last reports.

        A worker that takes longer than `timeout` seconds is killed; the index is then as after the last commit, and the
        segments are still in the cache.
        """
        reports: list[Report] = []
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
        for answer in map(json.loads, lines):
            if "others" in answer:
                self._worker.other_crawls = answer["others"]
            else:
                reports.append(_report(answer))
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


def _report(answer: dict[str, Any]) -> Report:
    path = Path(answer["path"])
    if "failed" in answer:
        return Failed(path, answer["failed"])
    return Committed(path, answer["added"], answer["seconds"], tuple(answer["remarks"]))
