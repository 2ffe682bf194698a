"""The service process (`ultracrawl serve`): runs the supervisor, notices, and the API if its extra is installed."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import MissingExtraError, WorkError
from ultracrawl.service.access.users import UserStore
from ultracrawl.service.notices.noticing import Noticing
from ultracrawl.service.orders import DRAIN_TIMEOUT, WallClock
from ultracrawl.service.schedules.plans import due_lines
from ultracrawl.service.schedules.runner_claim import open_runner_claim
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.notify import notify_reloading, notify_systemd, watchdog_seconds
from ultracrawl.service.supervisor.single_service import single_service
from ultracrawl.service.supervisor.supervisor import Supervisor
from ultracrawl.stores.audit_log import BEGUN, DONE, REFUSED, Actor, record_action
from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.project_stores import has_nodes, open_schedules
from ultracrawl.system.gc_tuning import collect_as_a_service

if TYPE_CHECKING:
    from ultracrawl.service.api.serving import ApiServer
    from ultracrawl.service.nodes.node import Node
    from ultracrawl.sources import Project

logger = logging.getLogger("ultracrawl.service")

HOST = "127.0.0.1"
PORT = 8480


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `ultracrawl serve`."""

    host: str = HOST
    port: int = PORT
    jobs: int | None = None
    patience: float = DRAIN_TIMEOUT
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    allowed_hosts: tuple[str, ...] = ()
    metrics_open: bool = False
    root_path: str = ""
    """What a reverse proxy has before all paths, as `/search`."""
    announce: Callable[[str, str], None] | None = None
    """Called as soon as the search page answers, with the URL of the service and the path of the page.

    On loopback the path signs in whoever opens it.
    """
    search: SearchingOptions = field(default_factory=SearchingOptions)
    read_only_definitions: bool = False
    """Save no changes of definitions."""
    name: str = ""
    """Its name among the nodes of the project, if the state is one for several machines; empty: by its host."""
    crawls_only: bool = False
    """Without pages and API: a node and nothing else."""


def serve(definitions: Definitions, options: ServeOptions) -> bool:
    """Serve until SIGTERM or Ctrl-C; returns whether all crawls ended cleanly. Raises `UserError`, `WorkError`.

    A second signal kills the crawls. SIGHUP reloads the definitions.
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
        self._node: Node | None = None

    async def run(self) -> bool:
        """Run the supervisor until a signal ends it."""
        clock, project, name = WallClock(), self._definitions.project, self._name()
        crawls_only = self._options.crawls_only
        with (
            single_service(project, name if crawls_only else ""),
            open_runner_claim(project, name) as runner_claim,
            self._opened(project, name) as store,
        ):
            if store.renewed:
                logger.warning("%s", store.renewed)
            runner_claim.share, runner_claim.by_time_only = self._node, crawls_only
            supervisor = Supervisor(
                self._definitions,
                store,
                clock,
                jobs=self._options.jobs,
                runner_claim=runner_claim,
            )
            async with AsyncExitStack() as stack:
                signals = stack.enter_context(ExitStack())
                signals.enter_context(self._signals(supervisor))  # before anybody hears that it runs
                stack.enter_context(supervisor.events().listening(lambda event: logger.info("%s", event)))
                if not crawls_only:
                    await stack.enter_async_context(_api(supervisor, self._options))
                if self._node is not None:
                    await stack.enter_async_context(self._node.running(supervisor, self._ending.set))
                await stack.enter_async_context(
                    Noticing(lambda: supervisor.project, supervisor, clock).running()
                )
                await stack.enter_async_context(_watchdog())
                collect_as_a_service()
                with signals:
                    running = asyncio.ensure_future(supervisor.run())
                    notify_systemd("READY=1")
                    logger.info("running the crawls of the %s; Ctrl-C or SIGTERM ends the service", project)
                    for line in () if crawls_only else due_lines(project):
                        logger.info("%s", line)
                    ending = asyncio.ensure_future(self._ending.wait())
                    await asyncio.wait((running, ending), return_when=asyncio.FIRST_COMPLETED)
                    notify_systemd("STOPPING=1")
                    clean = await self._drain(supervisor)
                    await running
            return clean and not (self._node and self._node.lost)

    def _name(self) -> str:
        """Return the name of the node that it is; empty if the state is on one machine. Raises `UserError`."""
        if self._options.crawls_only or has_nodes(self._definitions.project):
            return self._options.name or f"serve-{re.sub(r'[^A-Za-z0-9._-]', '-', socket.gethostname())}"[:63]
        return ""

    @contextmanager
    def _opened(self, project: Project, name: str) -> Iterator[ScheduleStore]:
        """Open the schedule store; a node registers before. Raises `UserError`, `StateError`."""
        if not name:
            with closing(open_schedules(project, renew=True)) as store:
                yield store
            return
        from ultracrawl.service.nodes.node import open_node  # noqa: PLC0415 - needs a database, and only nodes do

        stays = not self._options.crawls_only
        definitions = self._definitions
        opened = open_node(lambda: definitions.project, definitions.file_digests, name, stays=stays)
        with opened as self._node:
            yield self._node.schedules

    async def _drain(self, supervisor: Supervisor) -> bool:
        """End all crawls; returns whether they ended cleanly."""
        logger.info("ending the crawls; the next start resumes them")
        if self._node is not None:
            self._node.take_nothing_more()
        drained = asyncio.ensure_future(supervisor.drain())
        killing = asyncio.ensure_future(self._killing.wait())
        await asyncio.wait(
            (drained, killing), timeout=self._options.patience, return_when=asyncio.FIRST_COMPLETED
        )
        killing.cancel()
        if clean := drained.done():
            logger.info("all crawls have ended")
        else:
            logger.warning("crawls that had not ended were killed; the next start resumes them")
            await supervisor.kill_crawls()
        await drained
        return clean

    @contextmanager
    def _signals(self, supervisor: Supervisor) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def end_service(name: str) -> None:
            record_action(supervisor.project, Actor(f"signal:{name}"), "end of the service", result=BEGUN)
            (self._killing if self._ending.is_set() else self._ending).set()

        def reload_all() -> None:
            task = asyncio.ensure_future(self._reload(supervisor))
            self._reloads.add(task)
            task.add_done_callback(self._reloads.discard)

        handlers: dict[int, Callable[[], None]] = {
            signal.SIGINT: partial(end_service, "SIGINT"),
            signal.SIGTERM: partial(end_service, "SIGTERM"),
            signal.SIGHUP: reload_all,
        }
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    async def _reload(self, supervisor: Supervisor) -> None:
        notify_reloading()
        findings = await supervisor.reload_definitions()
        result = REFUSED if any(finding.fatal for finding in findings) else DONE
        record_action(supervisor.project, Actor("signal:SIGHUP"), "reload", result=result)
        notify_systemd("READY=1")


@asynccontextmanager
async def _api(supervisor: Supervisor, options: ServeOptions) -> AsyncIterator[None]:
    """Serve the pages and the API; without their extra, log a warning instead."""
    try:
        server, opened, path = _open_server(supervisor, options)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ultracrawl"):
            raise
        logger.warning("%s", MissingExtraError("the API", "serve"))
        yield
        return
    serving = asyncio.ensure_future(server.serve([opened]))
    host = f"[{options.host}]" if ":" in options.host else options.host
    base = f"{'https' if options.certificate else 'http'}://{host}:{opened.getsockname()[1]}"
    logger.info("the API answers at %s", base)
    if options.announce is not None:
        options.announce(f"{base}{options.root_path}", path)
    elif not _has_visitors(supervisor.project):
        logger.info("nobody can open the search page yet: `ultracrawl user add NAME --role administrator`")
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def _has_visitors(project: Project) -> bool:
    """Return whether somebody can open the search page, or it cannot be known."""
    try:
        outside = project.sign_in.proxy.networks or project.sign_in.oidc.issuer
        is_open = project.search_page.public or bool(outside)
        return is_open or bool(UserStore.of_project(project).all_users())
    except WorkError:  # `/readyz` and the log of each request say so
        return True


def _open_server(supervisor: Supervisor, options: ServeOptions) -> tuple[ApiServer, socket.socket, str]:
    """Return the server of pages and API, its listening socket, and the path of the search page.

    On loopback the path signs in the browser that opens it. Raises `UserError`, `WorkError`, `ModuleNotFoundError`.
    """
    from ultracrawl.service.api.app import ApiOptions, make_app  # noqa: PLC0415 - an extra
    from ultracrawl.service.api.middleware.cookies import Cookies  # noqa: PLC0415 - of the same extra
    from ultracrawl.service.api.serving import (  # noqa: PLC0415 - of the same extra
        check_exposure,
        is_loopback,
        make_server,
        open_socket,
        own_hosts,
    )
    from ultracrawl.service.pages.account.login import one_time_path  # noqa: PLC0415 - of the same extra
    from ultracrawl.service.pages.app import add_pages  # noqa: PLC0415 - of the same extra

    check_exposure(options.host, options.certificate, behind_proxy=options.behind_proxy)
    opened = open_socket(options.host, options.port)
    try:
        port, is_secure = opened.getsockname()[1], bool(options.certificate) or options.behind_proxy
        cookies = Cookies(port, is_secure, options.root_path)
        offered = ApiOptions(
            {*options.allowed_hosts, *own_hosts(opened, options.host)},
            options.metrics_open,
            cookies,
            options.behind_proxy,
            options.search,
            options.read_only_definitions,
        )
        app = make_app(lambda: supervisor.project, supervisor, offered)
        add_pages(app)
        server = make_server(app, options.certificate, options.key)
    except BaseException:
        opened.close()
        raise
    is_local = options.announce is not None and is_loopback(options.host) and not options.behind_proxy
    return server, opened, one_time_path(app) if is_local else "/"


@asynccontextmanager
async def _watchdog() -> AsyncIterator[None]:
    """Send watchdog messages to systemd, if it wants them."""
    interval = watchdog_seconds()

    async def send_messages() -> None:
        while interval is not None:
            notify_systemd("WATCHDOG=1")
            await asyncio.sleep(interval)

    task = asyncio.ensure_future(send_messages())
    try:
        yield
    finally:
        task.cancel()
