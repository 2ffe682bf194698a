"""Runs the scripts of pages in Chromium without network access: every request of the browser is answered here."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import AdvisedError, MissingExtraError, MissingProgramError
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.run.rendering.memory_watch import MemoryWatch
from ultracrawl.run.rendering.not_rendered import NotRendered, RenderingError
from ultracrawl.run.rendering.open_page import Fetch, OpenPage, PartAnswer, Rendered, unless
from ultracrawl.run.rendering.site_context import SiteContext
from ultracrawl.system.wall_guard import START_LIMIT

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import CDPSession, Playwright

    from ultracrawl.run.rendering.browser_folder import BrowserFolder
    from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

logger = logging.getLogger(__name__)

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
NO_DATAGRAM_FLAGS = (
    # By default WebRTC sends datagrams past every proxy; older versions know the second name.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
"""Flags that keep Chromium from sending anything past its proxy."""
NETWORK_BLOCKING_FLAGS = (
    # A proxy that cannot be reached: requests that are not answered here fail, over any protocol.
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    *NO_DATAGRAM_FLAGS,
)
"""Flags that keep Chromium from the network."""
_SPARE_PROCESS = "SpareRendererForSitePerProcess"
"""The feature by which Chromium starts a process for each tab that no page will use."""
_WITHOUT_FEATURES = (
    # Those that Playwright switches off, because the last one of these flags counts.
    "AcceptCHFrame",
    "AimEnabled",
    "AutoExpandDetailsElement",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "CertificateTransparencyComponentUpdater",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "ImprovedCookieControls",
    "LazyFrameLoading",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PlzDedicatedWorker",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
    "Translate",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "msForceBrowserSignIn",
    _SPARE_PROCESS,
)
_FLAGS = (
    *NETWORK_BLOCKING_FLAGS,
    f"--disable-features={','.join(_WITHOUT_FEATURES)}",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # Pages of a context and a site follow each other in one process. Sites and contexts never share one.
    "--process-per-site",
)
_CLOSE_TIMEOUT = 5.0
"""Seconds that a page may take to close."""
_MAX_IDLE = 4
"""Contexts that are kept for further pages of their origins, beside those that are in use."""
_NETWORK = "network.mojom.NetworkService"
"""The type of the process that carries answers to the pages. If it ends, they get none, and another one is started."""
_LOSS_SECONDS = 1.0
"""Seconds after an error within which the end of the browser becomes known, if that was its cause."""


def browser_program(named: str | None) -> str:
    """Return the path of the browser. Raises `UserError` if there is none, or the extra is missing."""
    if find_spec("playwright") is None:
        raise MissingExtraError("javascript", "javascript")
    for name in (named,) if named else PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    problem = f"{named} is no program" if named else "no Chromium was found"
    raise MissingProgramError(
        f"javascript: {problem}",
        "install it with `apt-get install chromium`, or name it in `javascript.browser`",
    )


@dataclass(slots=True)
class _Running:
    """A browser that has been started."""

    browser: PlaywrightBrowser
    session: CDPSession
    watch: MemoryWatch
    end: asyncio.Event
    network: int = 0
    """The number of its network process when that was last asked for."""

    @property
    def is_lost(self) -> bool:
        return self.end.is_set() or not self.browser.is_connected()

    async def find_network(self) -> int:
        """Return the number of its network process now: 0 if browser or driver do not answer, -1 if there is none."""
        try:
            processes = await asyncio.wait_for(_processes_of(self.session), _CLOSE_TIMEOUT)
        except Exception:  # Playwright's errors, and others if its process died
            return 0
        self.network = processes.get(_NETWORK, -1)
        return self.network


class Browser:
    """Opens pages, each in a tab of its own that finds cookies and storage empty. Started by the first page.

    Browser contexts are used again for pages of the same origin (`SiteContext`), one page at a time, so that nothing is
    shared between logins. A browser is that of one source.
    """

    def __init__(self, program: str, user_agent: str, shared: JavascriptSection) -> None:
        self._program = program
        self._shared = shared
        """The options for all pages: how many are open, and their memory."""
        self._user_agent = user_agent
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._folder: BrowserFolder | None = None
        """The folder for temporary files of driver and browser."""
        self._running: _Running | None = None
        self._idle: list[SiteContext] = []
        """Contexts without a page, the one that was used last at the end."""

    async def render(
        self, url: str, body: bytes, headers: dict[str, str], fetch: Fetch, options: JavascriptSection
    ) -> Rendered:
        """Return a downloaded page after its scripts were run. Raises `RenderingError`."""
        running, context = await self._context(origin_of(url))
        page: OpenPage | None = None
        network, read = running.network, False
        try:
            async with asyncio.timeout(options.timeout):
                answer = PartAnswer(200, headers, body)
                opening = OpenPage.open(context, url, answer, fetch, options)
                page = await unless(running.end, opening)
                rendered = await unless(running.end, page.read())
            if await running.find_network() != network:
                raise RenderingError(NotRendered.BROWSER, "the browser: its network process ended")
            read = True
            return rendered
        except TimeoutError:
            raise RenderingError(
                NotRendered.TIME, f"it took longer than {options.timeout:g} seconds"
            ) from None
        except RenderingError:
            raise
        except Exception as error:  # Playwright's errors, and others if its process died
            raise RenderingError(await self._fault(running, page, network), _error_summary(error)) from error
        finally:
            await self._leave(running, context, keep=read)

    async def _fault(self, running: _Running, page: OpenPage | None, network: int) -> NotRendered:
        """Return why a page gave no result; `network` is the network process with which it was opened."""
        until = time.monotonic() + _LOSS_SECONDS
        while True:
            if running.is_lost or running is not self._running:
                return NotRendered.BROWSER
            if page is not None and page.has_ended:
                return NotRendered.MEMORY if running.watch.claim() else NotRendered.CRASH
            if time.monotonic() > until:
                is_as_before = await running.find_network() == network
                return NotRendered.PAGE if is_as_before else NotRendered.BROWSER
            await asyncio.sleep(_LOSS_SECONDS / 20)

    async def close(self) -> None:
        """Close the browser."""
        running, playwright, folder = self._running, self._playwright, self._folder
        self._running = self._playwright = self._folder = None
        self._idle.clear()
        try:
            await self._end(running, playwright)
        finally:
            if folder is not None:
                await folder.remove()

    async def _end(self, running: _Running | None, playwright: Playwright | None) -> None:
        if running is not None:
            running.watch.close()
            with suppress(Exception):  # it may have crashed
                await asyncio.wait_for(running.browser.close(), _CLOSE_TIMEOUT)
        if playwright is not None:
            with suppress(Exception):  # it may have crashed
                await asyncio.wait_for(playwright.stop(), _CLOSE_TIMEOUT)

    async def _context(self, origin: str) -> tuple[_Running, SiteContext]:
        """Return a context for a page of an origin: the idle one that was used last, or a new one."""
        running = None
        try:
            async with asyncio.timeout(START_LIMIT):
                running = await self._started()
                for context in reversed(self._idle):
                    if context.origin == origin:
                        self._idle.remove(context)
                        return running, context
                opening = SiteContext.open(running.browser, origin, self._user_agent)
                context = await unless(running.end, opening)
                if not running.network:
                    await running.find_network()
                return running, context
        except (
            Exception
        ) as error:  # Playwright's errors, and others if its process died: the next page restarts it
            if running is self._running:
                await self.close()
            raise RenderingError(NotRendered.BROWSER, _error_summary(error)) from error

    async def _started(self) -> _Running:
        async with self._starting:
            if self._running is not None and not self._running.is_lost:
                return self._running
            if self._running is not None:
                self._running.watch.close()
            self._running = None
            self._idle.clear()
            if self._playwright is None:
                self._playwright = await self._start_driver()
            browser = await self._playwright.chromium.launch(
                executable_path=self._program,
                args=list(_FLAGS),
                timeout=1000 * START_LIMIT,
                chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to run as root with it
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            end, most = asyncio.Event(), self._shared.memory
            browser.on("disconnected", lambda _: end.set())
            session = await unless(end, browser.new_browser_cdp_session())
            processes = await unless(end, _processes_of(session))
            watch = MemoryWatch(processes["browser"], most, (self._shared.pages + 1) * most)
            self._running = _Running(browser, session, watch, end)
            return self._running

    async def _start_driver(self) -> Playwright:
        from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

        from ultracrawl.run.rendering.browser_folder import BrowserFolder  # noqa: PLC0415 - as above

        if self._folder is None:
            self._folder = BrowserFolder()
        async with self._folder.taken_by_processes():
            return await async_playwright().start()

    async def _leave(self, running: _Running, used: SiteContext, *, keep: bool) -> None:
        """Keep a context for the next page if its page was read, else close it.

        If a script that never ends prevents that, close the browser, too.
        """
        if running.is_lost:
            return
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                surplus: SiteContext | None = used
                if keep and await used.clear() and running is self._running:
                    self._idle.append(used)
                    surplus = self._idle.pop(0) if len(self._idle) > _MAX_IDLE else None
                if surplus is not None:
                    await surplus.close()
        except Exception:  # whatever failed, the next page gets a new browser
            if running is self._running:
                logger.warning("A page did not close; the browser is restarted")
                await self.close()


async def _processes_of(session: CDPSession) -> dict[str, int]:
    """Return the numbers of the processes of a browser by type; a program may start it as another process."""
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    return {process["type"]: int(process["id"]) for process in processes}


def _error_summary(error: Exception) -> str:
    return f"the browser: {next(iter(str(error).splitlines()), ''):.200}"


def what_rendering_lacks() -> str:
    """Return what to install before pages can be rendered on this machine; empty if nothing."""
    try:
        browser_program(None)
    except (MissingExtraError, AdvisedError) as error:
        return error.instead
    return ""
