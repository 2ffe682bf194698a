"""Commands of `ultracrawl` in processes of their own that need not import it: forked by a host that has.

Half a second of every `python -m ultracrawl` is spent on importing, and the tests start thousands of them. A hosted
command has its own process id, session, standard streams, directory and environment, as if it had been started.
`ULTRACRAWL_TESTS_HOSTED=0` in the environment has all of them really started.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO, Any

from support.command_host import pid_or_status

HOSTED = os.environ.get("ULTRACRAWL_TESTS_HOSTED", "1") != "0"

_ROOT = Path(__file__).resolve().parents[2]


class HostedCommand(subprocess.Popen[str]):
    """`PROGRAM WORDS`, with the methods of a process that was started with three pipes for text."""

    _child_created = False  # `Popen.__del__` has nothing to wait for

    def __init__(
        self,
        words: tuple[str, ...],
        directory: Path,
        environment: dict[str, str],
        program: str = "ultracrawl",
    ) -> None:
        self.args = [program, *words]
        self.returncode: int | None = None
        self._readers: list[_Reader] = []
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        ours_err, theirs_err = os.pipe()
        self._told, telling = os.pipe()
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(ours_in, "w"),
            os.fdopen(ours_out),
            os.fdopen(ours_err),
        )
        theirs = [theirs_in, theirs_out, theirs_err, telling]
        command = {"words": self.args, "directory": str(directory), "environment": environment}
        try:
            _host().send(json.dumps(command).encode(), theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.pid = self._hear()

    def _hear(self) -> int:
        data = os.read(self._told, pid_or_status.size)
        if not data:
            raise RuntimeError("the host of commands has ended")
        (number,) = pid_or_status.unpack(data)
        assert isinstance(number, int)
        return number

    def __del__(self, _warn: Any = None) -> None:
        if self.returncode is None:
            with contextlib.suppress(OSError):
                os.close(self._told)

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = os.waitstatus_to_exitcode(self._hear())
            os.close(self._told)
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        if not self._readers:
            assert self.stdout is not None
            assert self.stderr is not None
            self._readers = [_Reader(self.stdout), _Reader(self.stderr)]
            self._give(input or "")
        deadline = None if timeout is None else time.monotonic() + timeout
        for reader in self._readers:
            reader.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        self.wait(None if deadline is None else max(0.1, deadline - time.monotonic()))
        out, err = (reader.text for reader in self._readers)
        return out, err

    def _give(self, text: str) -> None:
        """Write to the standard input; short texts only, which fit into a pipe."""
        if self.stdin is not None and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.stdin.write(text)
            with contextlib.suppress(BrokenPipeError):
                self.stdin.close()


class _Reader(threading.Thread):
    """Reads a stream to its end."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self.text = ""
        self.start()

    def run(self) -> None:
        if not self._stream.closed:
            with self._stream:
                self.text = self._stream.read()


class _Host:
    """The process that forks commands; it ends with this one."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._lock = threading.Lock()
        program = Path(__file__).with_name("command_host.py")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(program), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": str(_ROOT), "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self._end)

    def send(self, message: bytes, descriptors: list[int]) -> None:
        """Have a command started."""
        with self._lock:
            socket.send_fds(self._socket, [b"%-16d" % len(message)], descriptors)
            self._socket.sendall(message)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def _end(self) -> None:
        self._socket.close()
        self._process.wait(timeout=100)


@cache
def _host() -> _Host:
    return _Host()


def host_process() -> int | None:
    """Return the process id of the host; None if no command was hosted yet."""
    return _host().pid if _host.cache_info().currsize else None
