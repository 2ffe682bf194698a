"""Runs the index engine, or another destination, in a process of its own, so that the crawler never waits for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.destinations.opening import DestinationConfig
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.writing.segments import Committed, Failed, Report

_LAST_BYTES = 2000
_POLL_SECONDS = 0.02


class IndexProcess:
    """Hands sealed segments to a worker process and collects its reports; no call waits, except `close`.

    The worker starts with `prepare` or the first segment. If it dies, it is started once more for the segments
    that have no report yet; after a second death in a row they are reported as failed, and a later `submit`
    starts afresh. The worker ends with its input, so it never outlives a crawler that was killed by more than
    the batch it is in.
    """

    def __init__(self, config: IndexConfig | DestinationConfig) -> None:
        self._config = config
        self._worker: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the object
        self._waiting: list[Path] = []
        self._received = b""
        self._restarted = False

    def prepare(self) -> None:
        """Start the worker ahead of its first segment, so that it is ready when that comes."""
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
        """Return the reports that came in since the last call; call it about every 0.1 to 0.5 seconds."""
        if self._worker is None:
            return []
        ended = self._worker.poll() is not None
        reports = self._receive()
        if reports:
            self._restarted = False
        if ended:
            reports += self._recover()
        return reports

    def close(self, timeout: float = 60.0) -> list[Report]:
        """End the worker after the segments it has, and return the last reports.

        A worker that takes longer than `timeout` seconds is killed; the index is then as after the last
        commit, and the segments are still in the cache.
        """
        reports: list[Report] = []
        deadline = time.monotonic() + timeout
        while self._waiting and self._worker is not None and time.monotonic() < deadline:
            reports += self.poll()
            if self._waiting:
                time.sleep(_POLL_SECONDS)
        self._stop(max(0.5, deadline - time.monotonic()))
        reports += [Failed(path, f"not indexed within {timeout:g} seconds") for path in self._waiting]
        self._waiting = []
        self._errors.close()
        return reports

    def _start(self) -> None:
        """Start a worker and give it all that waits. Raises `IndexStoreError` if the system starts none."""
        self._received = b""
        command = [sys.executable, "-m", "ultracrawl.index.writing.worker", self._config.to_json()]
        try:
            self._worker = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
            )
        except OSError as error:
            why = error.strerror or error
            raise IndexStoreError(f"the index process cannot be started: {why}") from error
        assert self._worker.stdout is not None
        os.set_blocking(self._worker.stdout.fileno(), False)
        if isinstance(self._config, DestinationConfig):
            self._tell(self._config.secrets_to_json())
        for path in self._waiting:
            self._send(path)

    def _send(self, path: Path) -> None:
        self._tell(json.dumps(str(path)))

    def _tell(self, line: str) -> None:
        assert self._worker is not None
        assert self._worker.stdin is not None
        # A worker that is gone is noticed by the next poll, which sends everything again.
        with suppress(BrokenPipeError):
            self._worker.stdin.write(line.encode() + b"\n")

    def _receive(self) -> list[Report]:
        assert self._worker is not None
        assert self._worker.stdout is not None
        while data := self._worker.stdout.read(65536):
            self._received += data
        *lines, self._received = self._received.split(b"\n")
        reports = [_report(line) for line in lines]
        for report in reports:
            self._waiting.remove(report.path)
        return reports

    def _recover(self) -> list[Report]:
        """Start a dead worker again, once; give up on its segments after that."""
        assert self._worker is not None
        reason = self._last_words(self._worker.returncode)
        self._stop(0.5)
        if not self._waiting:
            return []
        if not self._restarted:
            self._restarted = True
            try:
                self._start()
            except IndexStoreError as error:
                reason = str(error)
            else:
                return []
        self._restarted = False
        failed: list[Report] = [Failed(path, reason) for path in self._waiting]
        self._waiting = []
        return failed

    def _stop(self, timeout: float) -> None:
        if self._worker is None:
            return
        worker, self._worker = self._worker, None
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.close()
        try:
            worker.wait(timeout)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        worker.stdout.close()

    def _last_words(self, code: int) -> str:
        """Return why the worker ended, in one line."""
        how = f"killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_BYTES))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the index process was {how}" + (f": {lines[-1]}" if lines else "")


def _report(line: bytes) -> Report:
    answer = json.loads(line)
    path = Path(answer["path"])
    if "failed" in answer:
        return Failed(path, answer["failed"])
    return Committed(path, answer["added"], answer["seconds"], tuple(answer["remarks"]))
