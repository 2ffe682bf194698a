"""Index processes of hosted commands: forked, as the commands are, instead of started.

Every crawl has an index process, and nearly all that it would do in most tests is to import. A command has a nursery
from its first moment on, a process that has done nothing yet; the index process is forked by that one, with the three
streams, the process group and the environment that it would have, and is the same program from there on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import traceback
from types import SimpleNamespace
from typing import Any

number = struct.Struct("=i")
"""A process id, later its wait status."""
_HEAD = 16


class Nursery:
    """Where the index processes of this process come from."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            self._socket.close()
            _serve(theirs)
        theirs.close()

    def lend(self) -> None:
        """Have index processes of this process come from here."""
        from ultracrawl.index.writing import worker_handles

        instead = SimpleNamespace(
            PIPE=subprocess.PIPE, TimeoutExpired=subprocess.TimeoutExpired, Popen=self._start
        )
        worker_handles.subprocess = instead  # type: ignore[assignment]

    def _start(self, command: list[str], *, stderr: Any, **_: Any) -> ForkedWorker:
        return ForkedWorker(self._socket, command[-1], stderr.fileno())


class ForkedWorker:
    """An index process, with what its user needs of `subprocess.Popen`."""

    def __init__(self, nursery: socket.socket, config: str, errors: int) -> None:
        self.returncode: int | None = None
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self._told, telling = os.pipe()
        self.stdin = os.fdopen(ours_in, "wb", 0)
        self.stdout = os.fdopen(ours_out, "rb", 0)
        theirs = [theirs_in, theirs_out, errors, telling]
        message = config.encode()
        socket.send_fds(nursery, [b"%-*d" % (_HEAD, len(message))], theirs)
        nursery.sendall(message)
        for descriptor in (theirs_in, theirs_out, telling):
            os.close(descriptor)
        (self.pid,) = number.unpack(os.read(self._told, number.size))

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("the index process", timeout or 0.0)
            (status,) = number.unpack(os.read(self._told, number.size))
            self.returncode = os.waitstatus_to_exitcode(status)
            os.close(self._told)
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Running:
    """Processes that were forked here; the wait status of each is written to a pipe, which is then closed."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[int, int]] = {}

    def add(self, child: int, told: int) -> None:
        """Tell the end of a process to a pipe."""
        self._told[os.pidfd_open(child)] = child, told

    def ended_or_ready(self, other: int) -> list[int]:
        """Wait until a process has ended, which is told, or something can be read; return what is ready."""
        ready = select.select([other, *self._told], [], [])[0]
        for one in ready:
            if one in self._told:
                child, told = self._told.pop(one)
                with contextlib.suppress(BrokenPipeError):  # nobody wants to know
                    os.write(told, number.pack(os.waitpid(child, 0)[1]))
                os.close(told)
                os.close(one)
        return ready


def _serve(connection: socket.socket) -> None:
    """Be the nursery until the other side is gone. Ctrl-C is for the command, which decides when indexing ends."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    running = Running()
    while True:
        if connection.fileno() not in running.ended_or_ready(connection.fileno()):
            continue
        head, descriptors, _, _ = socket.recv_fds(connection, _HEAD, 4)
        if not head:
            os._exit(0)
        config = b""
        while len(config) < int(head):
            if not (piece := connection.recv(int(head) - len(config))):
                os._exit(0)
            config += piece
        *streams, told = descriptors
        if (child := os.fork()) == 0:
            _work(config.decode(), streams)
        with contextlib.suppress(BrokenPipeError):  # nobody wants to know
            os.write(told, number.pack(child))
        running.add(child, told)
        for stream in streams:
            os.close(stream)


def _work(config: str, streams: list[int]) -> None:
    """Be what `python -m ultracrawl.index.writing.worker CONFIG` would be; never returns."""
    from ultracrawl.index.writing.worker import main

    for stream, descriptor in enumerate(streams):
        os.dup2(descriptor, stream)
    os.closerange(3, 1024)
    gc.enable()
    code = 1
    try:
        code = main(config)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)
