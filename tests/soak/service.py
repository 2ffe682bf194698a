"""The processes of a service: killed at random, counted and measured."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from support.project import Workspace
from support.started import end, kill, start

MARK = "ULTRACRAWL_SOAK"
"""What all processes of one service have in their environment."""
KINDS = ("crawl", "index", "forkserver")
"""What is killed besides the service itself."""
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What a service takes at a time."""

    minute: float
    age: float
    """Seconds since its process was started."""
    service: float
    """PSS of its own process in MB."""
    private: float
    """What of that is its own alone."""
    everything: float
    """PSS of all of its processes in MB."""
    processes: int
    files: int
    """Open files of its own process."""
    state: float
    """MB in the folder of states."""
    index: float

    def __str__(self) -> str:
        """Return a line of a table."""
        return (
            f"{self.minute:5.1f} min, service {self.age:4.0f} s old: PSS {self.service:6.1f} MB, private "
            f"{self.private:6.1f} MB, of all "
            f"{self.processes:2d} processes {self.everything:6.1f} MB, {self.files} files; "
            f"state {self.state:.2f} MB, index {self.index:.2f} MB"
        )


class ShakenService:
    """`ultracrawl serve` in a project, which is started again whenever it is gone."""

    def __init__(self, workspace: Workspace, seed: int) -> None:
        self.kills = dict.fromkeys((*KINDS, "service"), 0)
        self._workspace = workspace
        self._dice = random.Random(seed)
        self._mark = uuid.uuid4().hex
        self._process = self._start()

    @property
    def log(self) -> str:
        """What it has said since the beginning."""
        return self._log.read_text()

    @property
    def _log(self) -> Path:
        return self._workspace.directory / "serve.log"

    def kill_child(self) -> None:
        """Kill one of what the service has started, if there is one of the kind within a while."""
        kind, deadline = self._dice.choice(KINDS), time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if found := [process for process in self._all() if self._kind_of(process) == kind]:
                self._kill(kind, self._dice.choice(found).pid)
                return
            time.sleep(0.25)

    def kill_service(self) -> None:
        """Kill the service, and start it again."""
        self._kill("service", self._process.pid)
        self._process.wait()
        self._process = self._start()

    def assure(self) -> None:
        """Fail if it has ended by itself."""
        assert self._process.poll() is None, self.log[-3000:]

    def stop(self) -> None:
        """End it cleanly; all of its processes are gone then, the index process within moments."""
        end(self._process, self._log, 120)

    def kill_all(self) -> None:
        """Leave nothing behind."""
        kill(self._process)
        for process in self._all():
            self._kill("", process.pid)

    def take_sample(self, minute: float) -> Sample:
        """Measure what it takes now."""
        own = psutil.Process(self._process.pid)
        sizes = [size for process in self._all() if (size := _memory(process)[0])]
        var = self._workspace.directory / "var"
        return Sample(
            minute,
            time.time() - own.create_time(),
            *_memory(own),
            sum(sizes),
            len(sizes),
            own.num_fds(),
            _size(var / "state"),
            _size(var / "index"),
        )

    def leftovers(self) -> list[str]:
        """Return the processes that are there."""
        return [f"{self._kind_of(one)} {one.pid}" for one in self._all()]

    def _start(self) -> subprocess.Popen[str]:
        return start(self._log, "serve", "--port", "0", "--jobs", "2", **{MARK: self._mark})

    def _kill(self, kind: str, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            if kind:
                self.kills[kind] += 1

    def _all(self) -> Iterator[psutil.Process]:
        """Yield all processes of the service, also those whose parents were killed."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(MARK) == self._mark:
                    yield process

    def _kind_of(self, process: psutil.Process) -> str:
        with suppress(psutil.Error):
            words = " ".join(process.cmdline())
            if process.pid == self._process.pid:
                return "service"
            if "ultracrawl.index.writing" in words:
                return "index"
            if "forkserver" in words:
                return "forkserver" if process.ppid() == self._process.pid else "crawl"
            return words
        return "gone"


def _memory(process: psutil.Process) -> tuple[float, float]:
    """Return the PSS of a process, and what it has alone, in MB."""
    with suppress(psutil.Error):
        info = process.memory_full_info()
        return info.pss / 1e6, info.uss / 1e6
    return 0.0, 0.0


def _size(folder: Path) -> float:
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total / 1e6
