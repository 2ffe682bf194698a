"""Ports of loopback that nobody else takes, and programs that serve on one: waited for, and stopped."""

from __future__ import annotations

import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 20.0
_ATTEMPTS = 3
_MOST_KEPT = 100
_kept: deque[socket.socket] = deque()


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that refuses connections until somebody listens on it by its number.

    The port is kept bound, so that the system gives it to nobody who asks for any port, in this process or another:
    neither before a server listens on it nor after. The last hundred of a process are kept.
    """
    kept = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # lets a server listen beside it
    kept.bind((host, 0))
    _kept.append(kept)
    if len(_kept) > _MOST_KEPT:
        _kept.popleft().close()
    port: int = kept.getsockname()[1]
    return port


@contextmanager
def serving(
    command: Callable[[int], Sequence[str]], errors: Path, *, patience: float = _PATIENCE
) -> Iterator[int]:
    """Run a program on a free port until the end; `command` makes its words for a port, on which it
    listens within `patience` seconds. Gives the port.

    Another process may take the port first, so a few are tried. RuntimeError gives what the program said.
    """
    for _ in range(_ATTEMPTS):
        port = free_port()
        with errors.open("w") as output:
            process = subprocess.Popen(
                command(port), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        try:
            if _answers(process, port, patience):
                yield port
                return
        finally:
            stop_program(process)
    raise RuntimeError(f"{command(0)[0]} did not start: {errors.read_text().strip() or 'it gave no reason'}")


def _answers(process: subprocess.Popen[bytes], port: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return process.poll() is None
    return False


def stop_program(process: subprocess.Popen[bytes]) -> None:
    """Ask a program to end, and end it if it does not within ten seconds."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
