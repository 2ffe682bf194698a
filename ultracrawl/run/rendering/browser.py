"""Runs the scripts of pages in Chromium without network access: every request of the browser is answered here."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ultracrawl.errors import MissingExtraError, MissingProgramError
from ultracrawl.run.rendering.injected_scripts import PREPARE
from ultracrawl.run.rendering.open_page import Fetch, OpenPage, PartAnswer, Rendered

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Playwright

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
_FLAGS = (
    *NETWORK_BLOCKING_FLAGS,
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
_START_TIMEOUT = 60.0
_CLOSE_TIMEOUT = 5.0
"""Seconds that the browser may take to start, and a page to close."""


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


class Browser:
    """Opens pages, each in a browser context of its own that is discarded afterwards. Started by the first page."""

    def __init__(self, program: str, user_agent: str, options: JavascriptSection) -> None:
        self._program = program
        self._options = options
        self._user_agent = user_agent
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: PlaywrightBrowser | None = None

    async def render(
        self, url: str, body: bytes, headers: dict[str, str], fetch: Fetch, seconds: float
    ) -> Rendered:
        """Return a downloaded page after its scripts were run.

        Raises `TimeoutError`, and `RuntimeError` for errors of the browser.
        """
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        try:
            async with asyncio.timeout(_START_TIMEOUT):
                browser, context = await self._context()
            try:
                async with asyncio.timeout(seconds):
                    await context.add_init_script(PREPARE)
                    answer = PartAnswer(200, headers, body)
                    page = await OpenPage.open(context, url, answer, fetch, self._options)
                    return await page.read()
            finally:
                await self._discard(browser, context.close())
        except Error as error:
            raise RuntimeError(_error_summary(error)) from error

    async def close(self) -> None:
        """Close the browser."""
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        if browser is not None:
            with suppress(Exception):  # it may have crashed
                await asyncio.wait_for(browser.close(), _CLOSE_TIMEOUT)
        if playwright is not None:
            with suppress(Exception):  # it may have crashed
                await asyncio.wait_for(playwright.stop(), _CLOSE_TIMEOUT)

    async def _context(self) -> tuple[PlaywrightBrowser, BrowserContext]:
        browser = None
        try:
            browser = await self._running()
            return browser, await browser.new_context(
                user_agent=self._user_agent, service_workers="block", accept_downloads=False
            )
        except (
            Exception
        ) as error:  # Playwright's errors, and others if its process died: the next page restarts it
            if browser is self._browser:
                await self.close()
            raise RuntimeError(_error_summary(error)) from error

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
        """Close a page; if a script that never ends prevents it, close the browser, too."""
        try:
            await asyncio.wait_for(closing, _CLOSE_TIMEOUT)
        except Exception:  # whatever failed, the next page gets a new browser
            if browser is self._browser:
                logger.warning("A page did not close; the browser is restarted")
                await self.close()


def _error_summary(error: Exception) -> str:
    return f"the browser: {next(iter(str(error).splitlines()), ''):.200}"
