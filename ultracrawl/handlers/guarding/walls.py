"""What stands between a foreign download handler and addresses that a source may not reach."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.url import add_http_if_no_scheme

from ultracrawl.crawl import feature_of
from ultracrawl.crawl.auth.proxy_selector import TRUSTED
from ultracrawl.crawl.download_errors.kinds import AddressRefusedError
from ultracrawl.crawl.rendering.browser import NO_DATAGRAMS
from ultracrawl.crawl.transport.host_addresses import HostAddresses
from ultracrawl.crawl.transport.outgoing import send_with
from ultracrawl.handlers.guarding.egress import EgressProxy
from ultracrawl.handlers.guarding.reactor import ConnectionAttempt, guard_reactor
from ultracrawl.rules.urls.canonical import site_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.transport.outgoing import Send
    from ultracrawl.handlers.oversight import AddressGuard
    from ultracrawl.model import Decision

BY_NAMES = (
    "the address guard is by names only, because {handler} opens its connections itself: a name that changes its "
    "address between check and connection is not noticed"
)


class Wall:
    """Lets a handler send a request, or refuses. Its kinds differ in how they know what is connected to."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    @classmethod
    def for_crawl(cls, _crawler: Crawler, context: CrawlContext, _handler: Any) -> Self:
        """Build the wall of a handler in a crawl."""
        return cls(context.rules.addresses)

    def forwards_headers(self, _request: Request) -> bool:
        """Whether a handler would carry the headers of a request along to wherever it is redirected."""
        return False

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request. Raises `AddressRefusedError`."""
        raise NotImplementedError

    async def close(self) -> None:
        """Release what the wall needed."""


class ReactorWall(Wall):
    """For handlers that connect through Twisted's reactor, which is asked to check each address.

    What was refused stays refused for the rest of a crawl: Scrapy's HTTP/2 handler has requests wait in vain for a
    connection that was not made.
    """

    def __init__(self, guard: AddressGuard) -> None:
        super().__init__(guard)
        self._refused: dict[tuple[str, str], Decision] = {}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request whose connections are checked when they are made."""
        trusted = TRUSTED in request.meta
        way = site_of(request.url), request.meta.get("proxy") or ""
        known = None if trusted else self._refused.get(way)
        if known is not None:
            raise AddressRefusedError(known)
        guard_reactor()
        attempt = ConnectionAttempt(None if trusted else self._guard)
        with attempt.current():
            sending = asyncio.ensure_future(send(request))
        try:
            either: tuple[asyncio.Future[Any], ...] = sending, attempt.refused
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if attempt.refused.done() and not _succeeded(sending):
                self._refused[way] = decision = attempt.refused.result()
                raise AddressRefusedError(decision)
            return sending.result()
        finally:
            sending.cancel()
            # Looked at, so that what became of it is not reported as forgotten.
            sending.add_done_callback(lambda done: done.cancelled() or done.exception())


def _succeeded(sending: asyncio.Future[Response]) -> bool:
    return sending.done() and not sending.cancelled() and sending.exception() is None


class ProxyWall(Wall):
    """For handlers that take the proxy in the meta of a request: ours, which connects to allowed addresses only."""

    def __init__(self, guard: AddressGuard) -> None:
        super().__init__(guard)
        self._egress = EgressProxy(guard)

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request through the proxy."""
        if "proxy" in request.meta:
            raise ValueError("the guard of this handler is a proxy itself; another one cannot be used")
        headers = {"Proxy-Authorization": self._egress.authorization}
        return await self._through(request, send_with(request, send, headers, {"proxy": self._egress.url}))

    async def _through(self, request: Request, sending: Any) -> Response:
        """Wait for what is sent through the proxy; what it refused is no failure of the server."""
        await self._egress.open()
        try:
            response: Response = await sending
        except Exception as error:  # whatever the handler makes of it
            refused = self._egress.refusal_of(_host_in(request.url))
            if refused is not None:
                raise AddressRefusedError(refused) from error
            raise
        return response

    async def close(self) -> None:
        """Close the proxy."""
        await self._egress.close()


class BrowserWall(ProxyWall):
    """For scrapy-playwright: its browser has our proxy and nothing else, its other requests go through the reactor."""

    def __init__(self, guard: AddressGuard) -> None:
        super().__init__(guard)
        self._reactor = ReactorWall(guard)

    @classmethod
    def for_crawl(cls, crawler: Crawler, context: CrawlContext, handler: Any) -> Self:
        """Build the wall and give its proxy to the browser, which is not started yet."""
        wall = super().for_crawl(crawler, context, handler)
        wall._lead_browser(handler.config)
        return wall

    def _lead_browser(self, config: Any) -> None:
        egress = self._egress
        flags = (
            f"--proxy-server={egress.url}",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            *NO_DATAGRAMS,
        )
        options = dict(config.launch_options)
        options["args"] = [*options.get("args", ()), *flags]
        options["proxy"] = {"server": egress.url, "username": egress.user, "password": egress.password}
        config.launch_options = options

    @staticmethod
    def goes_past(context: dict[str, Any]) -> bool:
        """Whether the options of a browser context lead past the proxy of the browser."""
        return bool({"proxy", "user_data_dir"} & context.keys())

    def forwards_headers(self, request: Request) -> bool:
        """Whether the browser opens a page: it sends the headers of a request to each server of its redirects."""
        return bool(request.meta.get("playwright"))

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request by browser or reactor."""
        if not request.meta.get("playwright"):
            return await self._reactor.fetch(request, send)
        if self.goes_past(request.meta.get("playwright_context_kwargs") or {}):
            raise ValueError("a browser context with a proxy or a profile of its own cannot be guarded")
        return await self._through(request, send(request))


class NamesWall(Wall):
    """For handlers that nobody can guard: names and literal addresses are checked before a request goes out."""

    def __init__(self, guard: AddressGuard, hosts: HostAddresses) -> None:
        super().__init__(guard)
        self._hosts = hosts

    @classmethod
    def for_crawl(cls, crawler: Crawler, context: CrawlContext, handler: Any) -> Self:
        """Build the wall, and have the report of the run say that it is a low one."""
        context.hooks.run_ending.append(_repeat(context, BY_NAMES.format(handler=type(handler).__name__)))
        return cls(context.rules.addresses, feature_of(crawler, HostAddresses))

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request if every address of its host, or of its proxy, may be connected to."""
        if TRUSTED in request.meta:
            return await send(request)
        host = _host_in(add_http_if_no_scheme(request.meta.get("proxy") or request.url))
        addresses = await asyncio.wrap_future(self._hosts.begin_look_up(host))
        if not addresses:
            raise CannotResolveHostError(host)
        for address in addresses:
            self._check(address)
        response = await send(request)
        if response.ip_address is not None:
            self._check(str(response.ip_address))
        return response

    def _check(self, address: str) -> None:
        decision = self._guard.check(address)
        if not decision.accept:
            raise AddressRefusedError(decision)


def _host_in(url: str) -> str:
    return urlsplit(url).hostname or ""


def _repeat(context: CrawlContext, remark: str) -> Callable[..., None]:
    def repeat(*, complete: bool) -> None:  # noqa: ARG001 - what hooks of the end are told
        if remark not in context.counters.remarks:
            context.counters.add_remark(remark)

    return repeat
