"""The fork server of the service, from which it starts all its processes.

It has imported the modules of the processes and does nothing else: a process starts within milliseconds, shares the
memory of the modules, and inherits no socket, lock or thread of the service.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

from ultracrawl.system.temporary_folder import own_temporary_folder

_PROGRAMS = [
    "ultracrawl.service.supervisor.child",
    "ultracrawl.service.searching.worker",
    "ultracrawl.index.whoosh.index_searcher",  # imported by the first search of an index
]
_renewal = threading.Lock()


def _fork_server() -> ForkServerContext:
    """Return the context that starts processes; the fork server starts with the first of them."""
    context: ForkServerContext = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PROGRAMS)
    return context


def start_process(
    target: Callable[..., None], *args: object, name: str, daemon: bool = False
) -> tuple[ForkServerProcess, Connection]:
    """Start a process that calls `target(*args, its end of a pipe)`; returns it, and our end.

    Raises `OSError` or `EOFError` if that is not possible, also at a second try: the fork server may be killed at the
    moment in which it is asked, and the next one starts with the next process. It is reached by a socket in the
    temporary folder. If somebody has deleted that, as programs that clean up do, folder and server are made anew.
    """
    try:
        return _start(target, args, name, daemon=daemon)
    except (OSError, EOFError):
        with _renewal:
            _renew()
    return _start(target, args, name, daemon=daemon)


def _start(
    target: Callable[..., None], args: tuple[object, ...], name: str, *, daemon: bool
) -> tuple[ForkServerProcess, Connection]:
    """Start a process once, with a pipe of its own; one that started though the try failed finds it closed and ends."""
    context = _fork_server()
    ours, theirs = context.Pipe()
    process = context.Process(target=_begin, args=(target, *args, theirs), name=name, daemon=daemon)
    try:
        _ensure_server()
        process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def _ensure_server() -> None:
    """Start the fork server unless it runs, without SIGINT: a Ctrl-C would end its imports with a traceback.

    When it has imported its modules it ignores the signal by itself.
    """
    resource_tracker.ensure_running()  # ignores the signal by itself, and unblocks it here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(target: Callable[..., None], *args: object) -> None:
    """Call the target of a process, which decides about SIGINT itself; until then the signal has no effect."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    target(*args)


def _renew() -> None:
    """Have the next process start another fork server, unless that has happened meanwhile.

    The former one goes on for the processes that it has started: it tells how they end.
    """
    server: Any = forkserver._forkserver
    address = server._forkserver_address
    if address is None or os.path.exists(address):
        return
    own_temporary_folder()
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None
