"""Commands of `ultracrawl` in the process of the tests: crawls of a network of this process, in no time."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import io
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import twisted.internet
from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.utils import versions
from twisted.internet.asyncioreactor import AsyncioSelectorReactor
from twisted.python.log import PythonLoggingObserver

from support import clock
from support.clock import AHEAD
from support.inline_indexer import InlineIndexer
from support.launcher_here import LauncherHere, run_in_reactor
from support.leaping_loop import LeapingLoop
from support.network import NetworkClient
from support.project import Ended, Workspace
from ultracrawl.cli.main import _run as run_command_line
from ultracrawl.content.service.pool import ConversionPool
from ultracrawl.handlers.curl import client
from ultracrawl.handlers.ftp.client import FtpClient
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.engines import open_index as open_engine
from ultracrawl.index.writing import project_outputs
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.run import lifecycle
from ultracrawl.service.supervisor import command, planned_crawls

_REACTOR = "twisted.internet.reactor"
_version_once = cache(versions._version)  # every crawl logs the versions of ten packages
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class InProcessWorkspace(Workspace):
    """A project whose commands run in this process, one at a time; those that fetch ask its network."""

    def start(self, *words: str, **_: Any) -> Any:
        raise NotImplementedError("nothing runs beside this process: mark the test with `processes`")

    def command(
        self, *words: str, timeout: float = 60.0, stdin: str = "", hosted: bool | None = None, **env: str
    ) -> Ended:
        assert hosted is None, "mark the test with `processes`"
        with self._as_in_a_process(env), _replaced(), _kept(self.directory):
            return _run(words, stdin)

    @contextlib.contextmanager
    def _as_in_a_process(self, env: dict[str, str]) -> Iterator[None]:
        before = os.getcwd()
        env = {name: value for name, value in env.items() if name != "PYTHONPATH"}
        clock.set_ahead(float(env.get(AHEAD, "0")))
        os.chdir(self.directory)
        try:
            with mock.patch.dict(os.environ, {"NO_COLOR": "1", "ULTRACRAWL_JOBS": "1", **env}):
                time.tzset()
                yield
        finally:
            os.chdir(before)
            clock.set_ahead(0.0)
            time.tzset()


def _run(words: tuple[str, ...], stdin: str) -> Ended:
    streams = [io.TextIOWrapper(io.BytesIO(text), encoding="utf-8") for text in (stdin.encode(), b"", b"")]
    with (
        mock.patch.object(sys, "argv", ["ultracrawl", *words]),
        mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
    ):
        code = run_command_line()
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])  # type: ignore[attr-defined]
    return Ended(code, out, err)


@contextlib.contextmanager
def _replaced() -> Iterator[None]:
    """Put what waits for nobody in the place of the loop, the network and the index process."""
    loop = LeapingLoop()
    reactor = AsyncioSelectorReactor(loop)
    submit, fetch, start = ConversionPool.submit, FtpClient.fetch, AsyncCrawlerProcess.start
    observe = PythonLoggingObserver.start

    def submit_and_wait(self: ConversionPool, job: Any) -> Any:
        future = submit(self, job)
        loop.wait_for(future)
        return future

    async def fetch_in_true_time(self: FtpClient, request: Request) -> Response:
        with loop.true_time():
            return await fetch(self, request)

    def start_without_signals(self: AsyncCrawlerProcess, stop_after_crawl: bool = True) -> None:
        start(self, stop_after_crawl, install_signal_handlers=False)

    def observe_for_now(self: PythonLoggingObserver) -> None:
        observe(self)
        at_end.callback(self.stop)

    def open_indexer(config: Any) -> Any:
        if isinstance(config, IndexConfig):
            return InlineIndexer(open_engine(config), config)
        return IndexProcess(config)

    asyncio.set_event_loop(loop)
    try:
        with (
            contextlib.ExitStack() as at_end,
            _installed(reactor),
            mock.patch.object(versions, "_version", _version_once),
            mock.patch.object(lifecycle, "freeze_loaded_objects"),
            mock.patch.object(ConversionPool, "submit", submit_and_wait),
            mock.patch.object(FtpClient, "fetch", fetch_in_true_time),
            mock.patch.object(AsyncCrawlerProcess, "start", start_without_signals),
            mock.patch.object(PythonLoggingObserver, "start", observe_for_now),
            mock.patch.object(project_outputs, "IndexProcess", open_indexer),
            mock.patch.object(client, "CurlClient", NetworkClient),
            mock.patch.object(command, "ProcessLauncher", LauncherHere),
            mock.patch.object(planned_crawls, "ProcessLauncher", LauncherHere),
            mock.patch.object(asyncio, "run", run_in_reactor),
        ):
            yield
    finally:
        asyncio.set_event_loop(None)
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # a process that ends takes them along
        reactor.removeReader(reactor.waker)
        reactor.waker.connectionLost(None)
        loop.close()


@contextlib.contextmanager
def _installed(reactor: AsyncioSelectorReactor) -> Iterator[None]:
    """Have a reactor of its own be Twisted's: none can be started twice."""
    before = sys.modules.pop(_REACTOR, None)
    sys.modules[_REACTOR] = reactor  # type: ignore[assignment]  # as Twisted does it
    try:
        with mock.patch.object(twisted.internet, "reactor", reactor, create=True):
            yield
    finally:
        del sys.modules[_REACTOR]
        if before is not None:
            sys.modules[_REACTOR] = before


@contextlib.contextmanager
def _kept(directory: Path) -> Iterator[None]:
    """Leave the process as it was: its modules, its log, its signals and its umask."""
    own = {file.stem for file in directory.glob("*.py")}
    others = {name: sys.modules.pop(name) for name in own & set(sys.modules)}
    modules, path, umask = set(sys.modules), list(sys.path), os.umask(0o077)
    os.umask(umask)
    thresholds = gc.get_threshold()
    handlers = {one: signal.getsignal(one) for one in _SIGNALS}
    root = logging.getLogger()
    log = root.level, list(root.handlers)
    levels = {
        name: one.level
        for name, one in logging.root.manager.loggerDict.items()
        if isinstance(one, logging.Logger)
    }
    root.handlers.clear()  # nobody else formats what is told
    root.setLevel(logging.WARNING)
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(directory)):
                del sys.modules[name]
        sys.modules.update(others)
        os.umask(umask)
        gc.set_threshold(*thresholds)
        logging.captureWarnings(False)
        root.setLevel(log[0])
        root.handlers[:] = log[1]
        for name, one in logging.root.manager.loggerDict.items():
            if isinstance(one, logging.Logger) and one.level != levels.get(name, logging.NOTSET):
                one.setLevel(levels.get(name, logging.NOTSET))
        for one, handler in handlers.items():
            signal.signal(one, handler)
