"""The program of `support.hosted`: has ultracrawl imported, and forks a process for each command that it is told.

Its argument is the number of an open socket. A request is a line with the length of the JSON that follows; with it
come four descriptors: the three standard streams of the command, and a pipe that is told its process id and, when
it has ended, its wait status. It ends when the socket is closed, and with it every command that still runs.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import signal
import socket
import struct
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])
    from support import clock

    clock.install()  # before anything is imported that keeps hold of `time.time`

from support import clock
from support.clock import AHEAD
from support.worker_host import Nursery, Running
from ultracrawl.content.service.confinement import die_with_parent
from ultracrawl.errors import MissingExtraError
from ultracrawl.run.reading.language_detection import open_detector
from ultracrawl.stores.sqlite.database import MEMORY, connect_or_replace

DYNAMIC = (
    "encodings.idna",
    "pycurl",
    "scrapy.cmdline",
    "scrapy.commands.check",
    "scrapy.commands.crawl",
    "scrapy.commands.fetch",
    "scrapy.commands.list",
    "scrapy.commands.parse",
    "scrapy.commands.shell",
    "scrapy.commands.view",
    "scrapy.core.downloader.middleware",
    "scrapy.downloadermiddlewares.httpcache",
    "scrapy.downloadermiddlewares.httpcompression",
    "scrapy.extensions.closespider",
    "scrapy.extensions.corestats",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.logcount",
    "scrapy.extensions.memdebug",
    "scrapy.extensions.memusage",
    "scrapy.extensions.throttle",
    "scrapy.logformatter",
    "scrapy.responsetypes",
    "scrapy.spidermiddlewares.metacopy",
    "scrapy.spidermiddlewares.start",
    "scrapy.statscollectors",
    "scrapy.utils.engine",
    "scrapy.utils.request",
    "ultracrawl.addon",
    "ultracrawl.settings.log_formatter",
    "ultracrawl.handlers.curl.handler",
    "ultracrawl.handlers.curl.client",
    "ultracrawl.index.whoosh",
    "ultracrawl.index.writing.worker",
    "ultracrawl.middlewares.acceptance",
    "ultracrawl.middlewares.conditional",
    "ultracrawl.middlewares.filters",
    "ultracrawl.middlewares.redirect",
    "ultracrawl.middlewares.robots",
    "ultracrawl.middlewares.status",
    "ultracrawl.pipelines",
    "ultracrawl.pipelines.processor",
    "ultracrawl.scheduler",
    "whoosh.lang.snowball",
)
"""What commands load by name, or only when they need it; none of it may start a thread or install Twisted's reactor."""

INDEXING = frozenset(
    {"admin", "approve", "approve-changes", "approve-deletions", "crawl", "reindex", "robot"}
)
"""Commands that have an index process."""

pid_or_status = struct.Struct("=i")


def load() -> None:
    """Import what commands need, once for all."""
    from scrapy.utils import versions

    from ultracrawl.cli.main import VERBS

    for verb in VERBS.values():
        import_module(f"ultracrawl.cli.{verb.module}")
    for name in DYNAMIC:
        import_module(name)
    with contextlib.suppress(MissingExtraError):
        open_detector("")  # keeps the model, which takes a second to load
    versions._version = cache(versions._version)
    versions.get_versions()  # every crawl logs them
    connect_or_replace(MEMORY)[0].close()  # makes the schema with which every state is compared
    assert "twisted.internet.reactor" not in sys.modules


def serve(connection: socket.socket) -> None:
    """Start commands until the other side closes; returns in the process of a command, too, which then runs it."""
    running = Running()
    while True:
        if connection.fileno() not in running.ended_or_ready(connection.fileno()):
            continue
        head, descriptors, _, _ = socket.recv_fds(connection, 16, 4)
        if not head:
            connection.close()
            sys.exit(0)
        command = json.loads(_exactly(connection, int(head)))
        *streams, told = descriptors
        if (child := os.fork()) == 0:
            connection.detach()
            die_with_parent()  # the host, which ends with the tests
            become(command, streams, told)
            return
        running.add(child, told)
        for stream in streams:
            os.close(stream)


def become(command: dict[str, Any], streams: list[int], told: int) -> None:
    """Make this process what `python -m PROGRAM` in that directory would be."""
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests that run under `nohup` hand down that it is ignored
    os.write(told, pid_or_status.pack(os.getpid()))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    os.chdir(command["directory"])
    os.environ.clear()
    os.environ.update(command["environment"])
    time.tzset()
    clock.set_ahead(float(os.environ.get(AHEAD, "0")))
    sys.path[:0] = [command["directory"], *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = command["words"]
    if INDEXING.intersection(command["words"]):
        Nursery().lend()
    gc.enable()


def _exactly(connection: socket.socket, size: int) -> bytes:
    pieces = []
    while size:
        if not (piece := connection.recv(size)):
            sys.exit(0)  # the tests were killed while they said it
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parents[1]))
    gc.disable()
    atexit.register(gc.freeze)  # the last of all: else the end of a command takes longer than the command
    load()
    gc.freeze()  # what no collection looks at stays shared between all commands
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
