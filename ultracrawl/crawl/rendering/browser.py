"""Chromium, which runs the scripts of pages and reaches nothing by itself: every request of it is asked for here."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ultracrawl.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Page, Playwright, Route

logger = logging.getLogger(__name__)

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
NO_DATAGRAMS = (
    # WebRTC sends datagrams past every proxy unless it is told not to; older versions know the second name.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
"""What keeps Chromium from sending anything past its proxy."""
WALLS = (
    # A proxy that is nowhere, since no name is found: what is not answered from here fails, over whatever protocol.
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    *NO_DATAGRAMS,
)
"""What keeps Chromium from the network."""
_FLAGS = (
    *WALLS,
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
_NO_PEERS = (
    "delete window.RTCPeerConnection; delete window.webkitRTCPeerConnection; delete window.WebTransport"
)
"""Runs ahead of the scripts of every page and frame: a second wall, should a version of Chromium not know the flags."""
_WANTED = frozenset({"script", "xhr", "fetch", "document"})
"""What a page needs to become what it is; pictures, fonts and styles add no words."""
_STARTING = 60.0
_CLOSING = 5.0
"""Seconds that the browser may take to start, and a page to close."""
QUIET = 0.15
"""Seconds without a request after which a page is taken for written."""
NEVER_QUIET = 2.0
"""Seconds after loading at which a page is taken as it is."""


@dataclass(frozen=True, slots=True)
class PartRequest:
    """A request of a page for one of its parts."""

    url: str
    kind: str
    initiator: str
    """The URL of the document that asks."""
    headers: dict[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """What a page gets for a part of it."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page after its scripts: its HTML, and where they wanted to lead the reader."""

    html: str
    targets: tuple[str, ...] = ()


Fetch = Callable[[PartRequest], Awaitable[PartAnswer | None]]
"""Gets a part of a page; None if the page is not to have it."""


def browser_program(named: str | None) -> str:
    """Return the program to start. Raises `UserError` if there is none, or the extra is missing."""
    if find_spec("playwright") is None:
        raise MissingExtraError("javascript", "javascript")
    for name in (named,) if named else PROGRAMS:
        found = shutil.which(name)
        if found:
            return found
    what = f"{named} is no program" if named else "no Chromium was found"
    raise UserError(
        f"javascript: {what}; install it with `apt-get install chromium`, or name it in `javascript.browser`"
    )


class Browser:
    """Opens pages, each in a context of its own that is forgotten afterwards. Started by the first page."""

    def __init__(self, program: str, user_agent: str) -> None:
        self._program = program
        self._user_agent = user_agent
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: PlaywrightBrowser | None = None

    async def render(
        self, url: str, body: bytes, headers: dict[str, str], fetch: Fetch, seconds: float
    ) -> Rendered:
        """Return what scripts make of a page that has come.

        Raises `TimeoutError`, and `RuntimeError` for what goes wrong in the browser.
        """
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        try:
            async with asyncio.timeout(_STARTING):
                browser, context = await self._context()
            try:
                async with asyncio.timeout(seconds):
                    await context.add_init_script(_NO_PEERS)
                    page = await context.new_page()
                    visit = _Opened(page, url, PartAnswer(200, headers, body), fetch)
                    await context.route("**/*", visit.answer)
                    return await visit.read()
            finally:
                await self._discard(browser, context.close())
        except Error as error:
            raise RuntimeError(_said(error)) from error

    async def close(self) -> None:
        """End the browser."""
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        if browser is not None:
            with suppress(Exception):  # it may have died
                await asyncio.wait_for(browser.close(), _CLOSING)
        if playwright is not None:
            with suppress(Exception):  # as above
                await asyncio.wait_for(playwright.stop(), _CLOSING)

    async def _context(self) -> tuple[PlaywrightBrowser, BrowserContext]:
        browser = None
        try:
            browser = await self._running()
            return browser, await browser.new_context(
                user_agent=self._user_agent, service_workers="block", accept_downloads=False
            )
        except Exception as error:  # Playwright's own, and plain ones if its program died: it is started anew
            if browser is self._browser:
                await self.close()
            raise RuntimeError(_said(error)) from error

    async def _running(self) -> PlaywrightBrowser:
        async with self._starting:
            if self._browser is not None and self._browser.is_connected():
                return self._browser
            self._browser = None
            from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

            if self._playwright is None:
                self._playwright = await async_playwright().start()
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._program,
                args=list(_FLAGS),
                chromium_sandbox=os.geteuid() != 0,  # Chromium refuses to run as root with it
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            return self._browser

    async def _discard(self, browser: PlaywrightBrowser, closing: Awaitable[None]) -> None:
        """Close a page; a script that never ends may keep it from closing, and then the browser goes with it."""
        try:
            await asyncio.wait_for(closing, _CLOSING)
        except Exception:  # whatever it is, the next page gets a new browser, if it has not got one by now
            if browser is self._browser:
                logger.warning("A page did not close; the browser is started anew")
                await self.close()


def _said(error: Exception) -> str:
    return f"the browser: {next(iter(str(error).splitlines()), ''):.200}"


class _Opened:
    """One page in the browser, and the answers to what it asks for."""

    def __init__(self, page: Page, url: str, answer: PartAnswer, fetch: Fetch) -> None:
        self._page = page
        self._url = url
        self._answer = answer
        self._fetch = fetch
        self._begun = False
        self._waiting = 0
        self._latest = 0.0
        self._targets: list[str] = []

    async def read(self) -> Rendered:
        await self._page.goto(self._url, wait_until="load", timeout=0)
        with suppress(TimeoutError):  # some pages are never quiet
            async with asyncio.timeout(NEVER_QUIET):
                await self._quiet()
        return Rendered(await self._page.content(), tuple(dict.fromkeys(self._targets)))

    async def _quiet(self) -> None:
        """Wait until nothing was asked for, and nothing is on its way, for a while."""
        self._latest = time.monotonic()
        while self._waiting or time.monotonic() - self._latest < QUIET:
            await asyncio.sleep(QUIET / 3)

    async def answer(self, route: Route) -> None:
        """Answer a request of the page, or refuse it."""
        self._waiting += 1
        try:
            await self._answer_to(route)
        finally:
            self._waiting -= 1
            self._latest = time.monotonic()

    async def _answer_to(self, route: Route) -> None:
        request = route.request
        found: PartAnswer | None = None
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            if self._begun:
                self._targets.append(request.url)
            else:
                self._begun, found = True, self._answer
        elif request.method == "GET" and request.resource_type in _WANTED:
            found = await self._fetch(
                PartRequest(request.url, request.resource_type, request.frame.url, request.headers)
            )
        with suppress(Exception):  # the page may have been closed meanwhile
            if found is None:
                await route.abort("blockedbyclient")
            else:
                await route.fulfill(status=found.status, headers=found.headers, body=found.body)
