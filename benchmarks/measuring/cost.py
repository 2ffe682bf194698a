"""Measures a command with all its processes: seconds, CPU seconds and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_CPU_INTERVAL = 0.05
_MEMORY_SHARE = 20
"""Sampling memory stops the process briefly, so the interval is at least a twentieth of the elapsed time."""
_LONGEST_INTERVAL = 0.5


COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""Environment that keeps compiled modules between commands, as for an installed program."""


@dataclass(frozen=True)
class Cost:
    """The cost of one command; memory is the sum over its processes, with shared memory counted once."""

    seconds: float
    cpu: float
    peak_mb: float
    output: str = ""
    errors: str = ""
    cpu_by_command: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds of every process by command line, as last sampled."""

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of two commands in sequence."""
        return Cost(
            self.seconds + other.seconds,
            self.cpu + other.cpu,
            max(self.peak_mb, other.peak_mb),
            other.output,
            other.errors,
        )

    def cpu_of(self, part: str) -> float:
        """Return the CPU seconds of the processes with `part` in their command line."""
        return sum(cpu for command, cpu in self.cpu_by_command.items() if part in command)


class NotAvailableError(Exception):
    """A crawler is not available; the message tells why."""


class CommandError(Exception):
    """A command failed or took too long."""


def run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    accepted: Sequence[int] = (0,),
    patience: float = 1800,
) -> Cost:
    """Run a command in a folder. Raises `CommandError`."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **COMPILED, **(environment or {})},
            start_new_session=True,
        )
        alarm = threading.Timer(patience, _end, [process.pid])
        alarm.start()
        sampler = _Sampler(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        alarm.cancel()
        sampler.end()
        output.seek(0)
        errors.seek(0)
        said, complaints = output.read().decode(errors="replace"), errors.read().decode(errors="replace")
    if process.returncode not in accepted:
        last = complaints.strip().splitlines()[-3:]
        raise CommandError(f"{Path(command[0]).name} ended with {process.returncode}: {' '.join(last)}")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(seconds, cpu, sampler.peak / 2**20, said, complaints, sampler.cpu())


def _end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Seen:
    """A sample of a process."""

    pid: int
    command: str
    """Its command line; empty after its end."""
    cpu: float
    """CPU seconds."""
    memory: int
    """Bytes; shared memory is divided among its processes (PSS)."""


def look_at(pid: int, *, with_memory: bool = True) -> Iterator[Seen]:
    """Yield samples of a process and its live descendants."""
    with suppress(psutil.NoSuchProcess):
        main = psutil.Process(pid)
        for process in (main, *main.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                times, command = process.cpu_times(), " ".join(process.cmdline())
                memory = process.memory_full_info().pss if with_memory else 0
                yield Seen(process.pid, command, times.user + times.system, memory)


class _Sampler:
    """Samples a process and its descendants in a thread until `end` is called."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._cpu: dict[int, tuple[str, float]] = {}
        self.peak = 0
        """Peak memory of all processes together, in bytes."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        started = last_memory = time.perf_counter()
        interval = 0.0
        while True:
            now = time.perf_counter()
            with_memory = now - last_memory >= interval
            self._sample(with_memory=with_memory)
            if with_memory:
                last_memory = now
                interval = min(_LONGEST_INTERVAL, (now - started) / _MEMORY_SHARE)
            if self._stop.wait(_CPU_INTERVAL):
                return

    def _sample(self, *, with_memory: bool) -> None:
        total = 0
        for seen in look_at(self._pid, with_memory=with_memory):
            known, _ = self._cpu.get(seen.pid, ("", 0.0))
            self._cpu[seen.pid] = seen.command or known, seen.cpu
            total += seen.memory
        self.peak = max(self.peak, total)

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds by command line."""
        found: dict[str, float] = {}
        for command, cpu in self._cpu.values():
            found[command] = found.get(command, 0.0) + cpu
        return found

    def end(self) -> None:
        """Stop sampling."""
        self._stop.set()
        self._thread.join()
