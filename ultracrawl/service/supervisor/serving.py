"""The long-running process: a supervisor until somebody ends it, and the API if its extra is installed."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.errors import MissingExtraError, WorkError
from ultracrawl.service.notices.noticing import Noticing
from ultracrawl.service.orders import WallClock
from ultracrawl.service.schedules.kept_signs import kept_sign
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.notify import tell_reloading, tell_systemd, watchdog_seconds
from ultracrawl.service.supervisor.supervisor import Supervisor
from ultracrawl.stores.opening import open_schedules, schedules_folder
from ultracrawl.system.files import convert_write_errors

if TYPE_CHECKING:
    from ultracrawl.sources import Project

logger = logging.getLogger("ultracrawl.service")

HOST = "127.0.0.1"
PORT = 8480
PATIENCE = 60.0
"""Seconds that crawls have to end cleanly when the service ends."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How the service is to run."""

    host: str = HOST
    port: int = PORT
    jobs: int | None = None
    patience: float = PATIENCE
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    allowed_hosts: tuple[str, ...] = ()
    metrics_open: bool = False


def serve(definitions: Definitions, options: ServeOptions) -> bool:
    """Serve until SIGTERM or Ctrl-C; returns whether all crawls ended cleanly. Raises `UserError`, `WorkError`.

    A second signal ends the crawls at once. SIGHUP has the definitions read anew.
    """
    return asyncio.run(_Service(definitions, options).run())


class _Service:
    """One run of the service."""

    def __init__(self, definitions: Definitions, options: ServeOptions) -> None:
        self._definitions = definitions
        self._options = options
        self._ending = asyncio.Event()
        self._killing = asyncio.Event()
        self._reloads: set[asyncio.Task[None]] = set()

    async def run(self) -> bool:
        """Supervise until somebody ends it."""
        clock, project = WallClock(), self._definitions.project
        with (
            _only_one(project),
            kept_sign(project) as sign,
            closing(open_schedules(project, renew=True)) as store,
        ):
            if store.renewed:
                logger.warning("%s", store.renewed)
            supervisor = Supervisor(self._definitions, store, clock, jobs=self._options.jobs, sign=sign)
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(_told(supervisor))
                await stack.enter_async_context(_api(supervisor, self._options))
                await stack.enter_async_context(
                    Noticing(lambda: supervisor.project, supervisor, clock).running()
                )
                await stack.enter_async_context(_watchdog())
                with self._signals(supervisor):
                    keeping = asyncio.ensure_future(supervisor.keep())
                    tell_systemd("READY=1")
                    logger.info("%s is kept; Ctrl-C or SIGTERM ends the service", project)
                    ending = asyncio.ensure_future(self._ending.wait())
                    await asyncio.wait((keeping, ending), return_when=asyncio.FIRST_COMPLETED)
                    tell_systemd("STOPPING=1")
                    clean = await self._drain(supervisor)
                    await keeping
            return clean

    async def _drain(self, supervisor: Supervisor) -> bool:
        """End all crawls; returns whether they ended cleanly."""
        logger.info("the crawls end, so that the next start goes on with them")
        drained = asyncio.ensure_future(supervisor.drain())
        killing = asyncio.ensure_future(self._killing.wait())
        await asyncio.wait(
            (drained, killing), timeout=self._options.patience, return_when=asyncio.FIRST_COMPLETED
        )
        killing.cancel()
        if clean := drained.done():
            logger.info("all crawls have ended")
        else:
            logger.warning("crawls that had not ended were killed; the next start goes on with them")
            await supervisor.kill_crawls()
        await drained
        return clean

    @contextmanager
    def _signals(self, supervisor: Supervisor) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def end_service() -> None:
            (self._killing if self._ending.is_set() else self._ending).set()

        def reload_all() -> None:
            task = asyncio.ensure_future(self._reload(supervisor))
            self._reloads.add(task)
            task.add_done_callback(self._reloads.discard)

        handlers = {signal.SIGINT: end_service, signal.SIGTERM: end_service, signal.SIGHUP: reload_all}
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    async def _reload(self, supervisor: Supervisor) -> None:
        tell_reloading()
        await supervisor.reload_definitions()
        tell_systemd("READY=1")


@contextmanager
def _only_one(project: Project) -> Iterator[None]:
    """Keep a second service from the project. Raises `WorkError`."""
    folder = schedules_folder(project)
    if folder is None:
        yield
        return
    path = folder / "service.lock"
    with convert_write_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with convert_write_errors(path):
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
    except BlockingIOError:
        other = os.pread(file, 20, 0).decode(errors="replace")
        os.close(file)
        raise WorkError(f"a service keeps this project already (process {other})") from None
    try:
        yield
    finally:
        os.close(file)


@asynccontextmanager
async def _told(supervisor: Supervisor) -> AsyncIterator[None]:
    """Write what happens to the log, for people."""
    events = supervisor.events()

    async def listen() -> None:
        async for event in events:
            logger.info("%s", event)

    task = asyncio.ensure_future(listen())
    try:
        yield
    finally:
        await asyncio.sleep(0)
        events.close()
        task.cancel()


@asynccontextmanager
async def _api(supervisor: Supervisor, options: ServeOptions) -> AsyncIterator[None]:
    """Serve the API; without the extra for it say so, and go on."""
    try:
        from ultracrawl.service.api.app import ApiOptions, make_app  # noqa: PLC0415 - an extra
        from ultracrawl.service.api.serving import check_exposure, make_server, open_socket  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ultracrawl"):
            raise
        logger.warning("%s", MissingExtraError("the API", "serve"))
        yield
        return
    check_exposure(options.host, options.certificate, behind_proxy=options.behind_proxy)
    app = make_app(
        lambda: supervisor.project, supervisor, ApiOptions(options.allowed_hosts, options.metrics_open)
    )
    server = make_server(app, options.certificate, options.key)
    opened = open_socket(options.host, options.port)
    serving = asyncio.ensure_future(server.serve([opened]))
    scheme = "https" if options.certificate else "http"
    logger.info("the API answers at %s://%s:%s", scheme, options.host, opened.getsockname()[1])
    try:
        yield
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def _watchdog() -> AsyncIterator[None]:
    """Tell systemd that the service lives, as often as it wants to hear that."""
    every = watchdog_seconds()

    async def tell() -> None:
        while every is not None:
            tell_systemd("WATCHDOG=1")
            await asyncio.sleep(every)

    task = asyncio.ensure_future(tell())
    try:
        yield
    finally:
        task.cancel()
