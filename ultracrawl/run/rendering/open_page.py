"""A page that is open in the browser: its requests are answered, its navigations noted, and its end is awaited."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.rules.robots.policy import TOO_MANY_REQUESTS, origin_of
from ultracrawl.run.rendering.injected_scripts import (
    LONGEST_TIMER,
    NOTE,
    SHOWN,
    STATE,
    WATCH,
    WATCHES,
    WORLD,
)
from ultracrawl.run.rendering.reading_scripts import FIND, KEEP, MORE, READ, ROUTES, SCROLL, SIZE

if TYPE_CHECKING:
    from typing import Any, Self

    from playwright.async_api import CDPSession, Page, Request, Route

    from ultracrawl.run.rendering.site_context import SiteContext
    from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

logger = logging.getLogger(__name__)

T = TypeVar("T")
_STREAM = "eventsource"
_FETCHED_TYPES = frozenset({"script", "xhr", "fetch", "document", _STREAM})
"""Resource types that affect the text of a page; images, fonts and styles do not."""
MAX_LOADING_PAUSE = 2.0
"""Seconds without a request and without `load` before a page is given up."""
_DATA_TYPES = frozenset({"fetch", "xhr", _STREAM})
"""Types of requests by which scripts ask for data."""
_AWAITED_TYPES = frozenset({"Script", "XHR", "Fetch"})
"""Types of requests, as the browser names them, that a page has before it is quiet."""
_NEEDED_TYPES = _AWAITED_TYPES | {"Document"}
"""Types of requests that affect the text of a page."""
_EXPLAINED = ("canceled", "blockedReason", "corsErrorStatus")
"""What says that the page gave a request up, or that crawler or browser refused it, which is for good."""
_WALLED = "net::ERR_PROXY_CONNECTION_FAILED"
"""How a request ends that would go round the crawler: the proxy of the browser is none."""
_NO_COPIES = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0}
"""What the browser keeps of the requests that it tells of."""
_TICK = 0.05
MAX_DELIVERIES = 2
"""Parts of a page that are handed to the browser at once: each is copied several times on its way."""
MAX_TARGETS = 100
"""Places to which scripts of a page lead that are noted."""
MAX_QUERIES = 5
"""Those that differ in their query alone: a script that makes one address after the other makes no pages."""
MAX_NEIGHBOURS = 20
"""Those of one folder."""


@dataclass(frozen=True, slots=True)
class PartRequest:
    """A request of a page for one of its parts."""

    url: str
    kind: str
    initiator: str
    """The URL of the requesting document."""
    headers: dict[str, str] = field(repr=False)
    data: bytes | None = None
    """The body of a POST request; None for GET."""
    cookies: str = field(default="", repr=False)
    """Cookies that scripts have set, as in the header `Cookie`."""
    validators: dict[str, str] = field(default_factory=dict, repr=False)
    """`If-None-Match` and `If-Modified-Since`, if the part is known."""
    note_turn: Callable[[bool], None] = field(default=lambda _: None, repr=False)
    """Called with True when it begins to wait for the turn of its site, and with False when that is over."""
    note_failure: Callable[[], None] = field(default=lambda: None, repr=False)
    """Called if there is no response."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The response for a part of a page."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page after its scripts: its HTML, and the URLs that they tried to navigate to."""

    html: str
    targets: tuple[str, ...] = ()
    url: str = ""
    """The URL that scripts gave to the page (`history.pushState`); empty if they left it."""
    awaited: bool = True
    """Whether the element came that `javascript.wait_for` names."""
    kept: bool = False
    """Whether it is indexed in place of the page as sent."""
    asks_for_data: bool = False
    """Whether its scripts asked for data, so that it may change while the page as sent does not."""
    is_waiting: bool = False
    """Whether parts of it still wait for the turn of their site, and it was not waited for any longer."""
    lacks_parts: bool = False
    """Whether a script or data could not be had for now: there was no response, the server is at fault or busy, or it
    did not reach the page."""
    is_whole: bool = True
    """Whether it had all that it had asked for."""
    leads_on: bool = False
    """Whether its scripts led to more places than are noted."""
    has_more: bool = False
    """Whether it has a button that seems to add more to it, which is not pressed."""


Fetch = Callable[[PartRequest], Awaitable[PartAnswer | None]]
"""Fetches a part of a page; returns None if the page may not have it."""


class OpenPage:
    """A page in the browser, and the answers to its requests.

    A navigation to another document is noted and cancelled before it begins. One that cannot be cancelled, such as
    that of a foreign frame, is answered with 204, upon which the browser keeps the page.
    """

    def __init__(
        self,
        page: Page,
        session: CDPSession,
        url: str,
        answer: PartAnswer,
        fetch: Fetch,
        options: JavascriptSection,
    ) -> None:
        """Initialise; `options` say how long the page is waited for."""
        self._page = page
        self._session = session
        self._url = url
        self._answer = answer
        self._fetch = fetch
        self._options = options
        self._has_navigated = False
        self._loaded = False
        self._waiting = 0
        """Requests that are not answered yet."""
        self._needed: set[str] = set()
        """Requests over HTTP that affect the text, by its own account, as long as they are open."""
        self._open: dict[str, str] = {}
        """URLs of requests that the page began, by its own account, and has not got whole: answers may come late. Those
        that are not sent, such as those for objects of the page, have none."""
        self._had = {""}
        """URLs of requests that it has got whole."""
        self._asks_for_data = self._lacks_parts = False
        self._held = 0
        """Parts that wait for the turn of their site: the crawler keeps them from the page."""
        self._latest = self._end = 0.0
        self._targets: dict[str, None] = {}
        self._alike = Counter[str]()
        """How many targets there are by what they begin with: path, folder, nothing."""
        self._leads_on = False
        self._streams = set[str]()
        """Streams of events that the page got."""
        self._closing: set[asyncio.Task[None]] = set()
        self._gone = asyncio.Event()
        self._deliveries = asyncio.Semaphore(MAX_DELIVERIES)

    @classmethod
    async def open(
        cls, place: SiteContext, url: str, answer: PartAnswer, fetch: Fetch, options: JavascriptSection
    ) -> Self:
        """Open a page of a context; every request of the context is answered by it."""
        page = await place.context.new_page()
        session = await place.context.new_cdp_session(page)
        made = cls(page, session, url, answer, fetch, options)
        await place.begin(made.answer)
        page.on("load", made._note_load)
        page.on("popup", made._close)
        page.on("crash", made._note_crash)
        session.on("Runtime.bindingCalled", made._note_called)
        session.on("Network.requestWillBeSent", made._note_request)
        session.on("Network.loadingFinished", made._note_arrival)
        session.on("Network.loadingFailed", made._note_loss)
        await session.send("Page.enable")
        await session.send("Runtime.enable")
        await session.send("Network.enable", _NO_COPIES)
        for name in (NOTE, SHOWN):
            await session.send("Runtime.addBinding", {"name": name, "executionContextName": WORLD})
        await session.send("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH, "worldName": WORLD})
        return made

    @property
    def has_ended(self) -> bool:
        """Whether the process of the page has ended."""
        return self._gone.is_set()

    async def read(self) -> Rendered:
        """Return the page after its scripts. Raises `RuntimeError` if there is no such page."""
        return await unless(self._gone, self._read())

    async def _read(self) -> Rendered:
        awaited = await self._load()
        if await self._is_to_be_reloaded():
            awaited = await self._load()
        routes = [str(url) for url in await self._evaluate(ROUTES)] if self._options.hash_routes else []
        html, has_more = await self._evaluate(f"[{READ}, {MORE}]")
        url = self._page.url
        # What a page does when it is closed could reach the storage after that was cleared.
        await self._session.send("Emulation.setScriptExecutionDisabled", {"value": True})
        if origin_of(url) != origin_of(self._url):
            raise RuntimeError("the browser: the page was replaced by one that it has made itself")
        moved = _document_of(url) != _document_of(self._url)
        return Rendered(
            str(html),
            tuple(dict.fromkeys((*self._targets, *routes))),
            url if moved else "",
            awaited,
            asks_for_data=self._asks_for_data,
            is_waiting=self._held > 0,
            lacks_parts=self._lacks_parts,
            is_whole=self._had.issuperset(self._open.values()),
            leads_on=self._leads_on,
            has_more=bool(has_more),
        )

    async def _load(self) -> bool:
        """Load the page and wait until it is complete; return whether the element came that it is to wait for."""
        self._open.clear()
        await self._page.goto(self._url, wait_until="commit", timeout=0)
        self._latest = time.monotonic()
        await self._wait_until_loaded()
        return await self._complete()

    async def _is_to_be_reloaded(self) -> bool:
        """Fetch the page again if it has set cookies and then tried to reload itself; return whether it came."""
        url = _document_of(self._url)
        if url not in map(_document_of, self._targets):
            return False
        cookies = "; ".join(f"{one['name']}={one['value']}" for one in await self._page.context.cookies(url))
        answer = await self._part(PartRequest(url, "document", url, {}, cookies=cookies)) if cookies else None
        types = (
            [value for name, value in answer.headers.items() if name.lower() == "content-type"]
            if answer
            else []
        )
        if answer is None or answer.status != 200 or not any("html" in value for value in types):
            return False
        self._answer, self._has_navigated, self._loaded = answer, False, False
        return True

    async def _wait_until_loaded(self) -> None:
        """Wait until the page is loaded, or has been parsed and does nothing more, such as one with an open frame.

        Raises `RuntimeError` if it does nothing and has not been parsed either.
        """
        while not self._loaded:
            await asyncio.sleep(_TICK)
            began = time.monotonic()
            await self._page.evaluate("0")  # waits for the scripts that run
            if time.monotonic() - began > _TICK:
                self._latest = time.monotonic()
            if not self._loaded and not self._asks and time.monotonic() - self._latest > MAX_LOADING_PAUSE:
                if await self._evaluate("document.readyState") == "loading":
                    raise RuntimeError("the browser: the page stopped loading")
                return

    async def _complete(self) -> bool:
        """Wait until a loaded page is complete; return whether the element came that it is to wait for."""
        options, awaited = self._options, True
        self._end = time.monotonic() + options.timeout / 2
        await asyncio.sleep(options.wait)
        if options.wait_for is not None:
            awaited = await self._waited(self._wait_for_element(options.wait_for))
        await self._waited(self._wait_until_quiet())
        await self._waited(self._scroll())
        return awaited

    async def _waited(self, waiting: Awaitable[None]) -> bool:
        """Wait for at most `javascript.max_wait`, as some pages are never quiet; return whether that was enough.

        Time in which parts of the page wait for the turn of their site does not count, up to half of the time of the
        whole page: one that asks again and again is read, too.
        """
        left, task = self._options.max_wait, asyncio.ensure_future(waiting)
        try:
            while left > 0 and time.monotonic() < self._end and not task.done():
                began = time.monotonic()
                await asyncio.wait({task}, timeout=min(left, _TICK))
                left -= 0.0 if self._held else time.monotonic() - began
            if task.done():
                task.result()
                return True
        finally:
            task.cancel()
        return False

    def _note_failure(self) -> None:
        self._lacks_parts = True

    def _note_turn(self, waits: bool) -> None:
        self._held += 1 if waits else -1

    async def _wait_for_element(self, selector: str) -> None:
        while not await self._evaluate(f"{FIND}({json.dumps(selector)})"):
            await asyncio.sleep(_TICK)

    async def _wait_until_quiet(self) -> None:
        """Wait for `javascript.quiet_time` without a request, and for timers of at most `LONGEST_TIMER`.

        A busy browser can be later than any such time. So the page is asked, which answers when it has done what it was
        at, and after it has told of all requests that it began by then.
        """
        self._latest = time.monotonic()
        while True:
            await asyncio.sleep(_TICK)
            latest = self._latest
            if self._asks or time.monotonic() - latest < self._options.quiet_time:
                continue
            due = await self._state("due")
            if self._asks or self._latest != latest:
                continue
            if not isinstance(due, int | float) or not due <= LONGEST_TIMER * 1000:
                return
            await asyncio.sleep(due / 1000)
            self._latest = time.monotonic()

    @property
    def _asks(self) -> bool:
        """Whether a request of the page is open."""
        return self._waiting > 0 or bool(self._open)

    async def _scroll(self) -> None:
        """Scroll a page that watches it to its end as long as it grows, `javascript.scrolls` times at most."""
        if not self._options.scrolls or not await self._state("watches", WATCHES):
            return
        await self._evaluate(KEEP)
        for _ in range(self._options.scrolls):
            size, self._latest = await self._evaluate(SIZE), time.monotonic()
            is_left = await self._evaluate(SCROLL)
            await self._wait_until_quiet()
            if not is_left and await self._evaluate(SIZE) == size:
                return

    async def _state(self, name: str, question: str = STATE) -> Any:
        """Return what `PREPARE` knows of the page; scripts of the page may have replaced it by anything."""
        # By the session that tells of requests: whatever began before the answer was told before it.
        answer = await self._session.send("Runtime.evaluate", {"expression": question, "returnByValue": True})
        state = answer["result"].get("value")
        return state.get(name) if isinstance(state, dict) else None

    async def _evaluate(self, script: str) -> Any:
        """Return the value of a script that shares the document with the page, but none of its objects."""
        tree = await self._session.send("Page.getFrameTree")
        world = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": WORLD}
        made = await self._session.send("Page.createIsolatedWorld", world)
        asked = {"expression": script, "contextId": made["executionContextId"], "returnByValue": True}
        answer = await self._session.send("Runtime.evaluate", {**asked, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"the browser: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    # ---- events of the page

    def _note_crash(self, _: Page) -> None:
        self._gone.set()

    def _note_load(self, _: Page) -> None:
        self._loaded = True

    def _note_request(self, event: dict[str, Any]) -> None:
        # The script of a worker has no loader here, and its end is told to the worker alone.
        number, kind, url = event["requestId"], event.get("type"), event["request"]["url"]
        if kind in _NEEDED_TYPES and url.startswith("http"):
            self._needed.add(number)
        if kind in _AWAITED_TYPES and event["loaderId"]:
            self._open[number] = url if number in self._needed else ""
            self._latest = time.monotonic()

    def _note_arrival(self, event: dict[str, Any]) -> None:
        self._had.add(self._open.get(event["requestId"], ""))
        self._note_end(event)

    def _note_loss(self, event: dict[str, Any]) -> None:
        """Note the end of a request without a result, which is a missing part if nobody wanted it so."""
        is_refused = event.get("errorText") == _WALLED or any(event.get(name) for name in _EXPLAINED)
        if event["requestId"] in self._needed and not is_refused:
            logger.info("%s: a part was lost: %s", self._url, event.get("errorText"))
            self._note_failure()
        self._note_end(event)

    def _note_end(self, event: dict[str, Any]) -> None:
        self._needed.discard(event["requestId"])
        if self._open.pop(event["requestId"], None) is not None:
            self._latest = time.monotonic()

    def _note_called(self, event: dict[str, Any]) -> None:
        if event["name"] == SHOWN:
            if _document_of(event["payload"]) != _document_of(self._url):
                self._note_target(event["payload"])
        else:
            self._note_target(event["payload"])

    def _note_target(self, url: str) -> None:
        """Note where a page leads; one that goes on for ever leads to a few places, alike or not."""
        path = url.partition("?")[0]
        alike = {path: MAX_QUERIES, path.rpartition("/")[0]: MAX_NEIGHBOURS, "": MAX_TARGETS}
        if url in self._targets:
            return
        if any(self._alike[part] >= most for part, most in alike.items()):
            self._leads_on = True
            return
        self._alike.update(alike.keys())
        self._targets[url] = None

    def _close(self, window: Page) -> None:
        """Close a window that the page opened."""
        closing = asyncio.create_task(_close_window(window))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def answer(self, route: Route) -> None:
        """Fulfil or abort a request of the page."""
        self._waiting += 1
        try:
            await self._answer_to(route)
        except Exception as error:  # Playwright would raise it in whatever waits next, of any page
            logger.debug("A request of %s was not answered: %s", self._url, error)
        finally:
            self._waiting -= 1
            self._latest = time.monotonic()

    async def _answer_to(self, route: Route) -> None:
        request = route.request
        part: PartAnswer | None = None
        if request.is_navigation_request() and self._is_whole_window(request):
            part = self._answer_navigation(request)
        elif request.resource_type == _STREAM and request.url in self._streams:
            part = PartAnswer(204, {}, b"")  # or the page would ask for it again and again
        elif request.resource_type in _FETCHED_TYPES and (request.method == "GET" or self._may_post(request)):
            self._streams.update({request.url} if request.resource_type == _STREAM else ())
            self._asks_for_data |= request.resource_type in _DATA_TYPES
            data = (request.post_data_buffer or b"") if request.method == "POST" else None
            asked = PartRequest(request.url, request.resource_type, request.frame.url, request.headers, data)
            part = await self._part(asked)
        if part is None:
            await route.abort("blockedbyclient")
        else:
            async with self._deliveries:
                await self._deliver(route, part)

    async def _part(self, request: PartRequest) -> PartAnswer | None:
        """Return a part of the page, and note if it cannot be had for now."""
        asked = replace(request, note_turn=self._note_turn, note_failure=self._note_failure)
        part = await self._fetch(asked)
        if part is not None and (part.status >= 500 or part.status == TOO_MANY_REQUESTS):
            self._note_failure()
        return part

    async def _deliver(self, route: Route, part: PartAnswer) -> None:
        """Hand an answer to the page; one that it does not take is a missing part."""
        try:
            await route.fulfill(status=part.status, headers=part.headers, body=part.body)
        except Exception:
            self._note_failure()
            raise

    def _may_post(self, request: Request) -> bool:
        kinds = ("xhr", "fetch")
        return self._options.post_data and request.method == "POST" and request.resource_type in kinds

    def _is_whole_window(self, request: Request) -> bool:
        """Return whether a navigation is not one of a frame; that of a new window has no frame yet."""
        from playwright.async_api import Error  # noqa: PLC0415 - an extra

        try:
            return request.frame.parent_frame is None
        except Error:
            return True

    def _answer_navigation(self, request: Request) -> PartAnswer:
        if not self._has_navigated:
            self._has_navigated = True
            return self._answer
        if request.method == "GET":
            self._note_target(request.url)
        return PartAnswer(204, {}, b"")


async def unless(end: asyncio.Event, awaited: Awaitable[T]) -> T:
    """Return what is awaited. Raises `RuntimeError` if `end` is set before.

    What waits for a process that has died is not always told.
    """
    result, ending = asyncio.ensure_future(awaited), asyncio.ensure_future(end.wait())
    try:
        await asyncio.wait({result, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise RuntimeError("the browser: its process has ended")
        return result.result()
    finally:
        result.cancel()
        ending.cancel()


def _document_of(url: str) -> str:
    return url.partition("#")[0]


async def _close_window(window: Page) -> None:
    with suppress(Exception):  # it may be closed already, or its context
        await window.close()
