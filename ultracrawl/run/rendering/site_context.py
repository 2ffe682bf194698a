"""Browser contexts that are used again: a page finds cookies and storage empty, and the process of its site running."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.run.rendering.injected_scripts import PREPARE

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Route

MAX_HEAP = 100 << 20
"""Bytes of the heap of scripts, with what earlier pages left in it, from which a context is closed."""


class SiteContext:
    """A browser context for one page of an origin at a time.

    It holds an empty page of the origin, so that the process of the site goes on from page to page: most of the cost of
    a page is the start of a process. A page gets a tab of its own, which is closed with its windows, and then cookies
    and the storage of the origin are cleared.
    """

    def __init__(self, context: BrowserContext, origin: str, holder: Page, session: CDPSession) -> None:
        """Initialise; `holder` is the page that holds the process, and `session` speaks with it."""
        self.context = context
        self.origin = origin
        self._holder = holder
        self._session = session
        self._usable = True
        """False if its process has ended, or if a page had a document of another origin: it may have stored more."""
        self._answer: Callable[[Route], Awaitable[None]] | None = None

    @classmethod
    async def open(cls, browser: Browser, origin: str, user_agent: str) -> Self:
        """Make a context for an origin."""
        context = await browser.new_context(
            user_agent=user_agent, service_workers="block", accept_downloads=False
        )
        holder = await context.new_page()
        await holder.route("**/*", _answer_with_nothing)
        await holder.goto(f"{origin}/")
        made = cls(context, origin, holder, await context.new_cdp_session(holder))
        holder.on("crash", made._note_crash)
        await context.add_init_script(PREPARE)
        await context.route("**/*", made._route)
        return made

    async def clear(self) -> bool:
        """Close the page with all its windows and clear what it has stored; return whether the context can be kept."""
        self._answer = None
        for page in self.context.pages:
            if page is not self._holder:
                await page.close()
        if not self._usable:
            return False
        heap = await self._session.send("Runtime.getHeapUsage")  # the process has ended what the page began
        # Its last changes may still be on their way; this clearing follows them by the same way.
        await self._holder.evaluate("try { localStorage.clear() } catch {}")
        await self._clear_storage()
        return len(self.context.pages) == 1 and heap["totalSize"] < MAX_HEAP

    async def begin(self, answer: Callable[[Route], Awaitable[None]]) -> None:
        """Let the requests of a page be answered by `answer`, until `clear`; what arrived late is cleared."""
        await self._clear_storage()
        self._answer = answer

    async def _clear_storage(self) -> None:
        await self._session.send("Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": "all"})
        await self.context.clear_cookies()

    async def close(self) -> None:
        """Close the context."""
        await self.context.close()

    def _note_crash(self, _: Page) -> None:
        self._usable = False

    async def _route(self, route: Route) -> None:
        """Pass a request on to the page that is open; one of a page that was closed is refused."""
        if route.request.resource_type == "document" and origin_of(route.request.url) != self.origin:
            self._usable = False
        if self._answer is not None:
            await self._answer(route)
            return
        with suppress(Exception):  # its page may be closed
            await route.abort("blockedbyclient")


async def _answer_with_nothing(route: Route) -> None:
    await route.fulfill(status=200, content_type="text/html", body="")
