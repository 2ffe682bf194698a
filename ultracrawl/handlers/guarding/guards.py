"""Connection guards: they keep third-party download handlers from connecting to addresses a source may not reach."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.url import add_http_if_no_scheme

from ultracrawl.crawl import feature_of
from ultracrawl.crawl.auth.proxy_selector import TRUSTED_KEY
from ultracrawl.crawl.download_errors.kinds import AddressRefusedError
from ultracrawl.crawl.rendering.browser import NO_DATAGRAM_FLAGS
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
    from ultracrawl.handlers.download_control import AddressGuard
    from ultracrawl.model import Decision

HOST_NAMES_ONLY_REMARK = (
    "the address guard checks host names only, because {handler} opens its connections itself: a name that changes its "
    "address between check and connection is not noticed"
)


class ConnectionGuard:
    """Base class: sends a request with a handler, or refuses it. Subclasses differ in how they check connections."""

    def __init__(self, addresses: AddressGuard) -> None:
        self._addresses = addresses

    @classmethod
    def for_crawl(cls, _crawler: Crawler, context: CrawlContext, _handler: Any) -> Self:
        """Create the guard of a handler in a crawl."""
        return cls(context.rules.addresses)

    def forwards_headers(self, _request: Request) -> bool:
        """Whether a handler sends the headers of a request to the targets of redirects, too."""
        return False

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request. Raises `AddressRefusedError`."""
        raise NotImplementedError

    async def close(self) -> None:
        """Release the resources of the guard."""


class ReactorGuard(ConnectionGuard):
    """For handlers that connect through Twisted's reactor, which checks each address.

    Refusals are remembered for the rest of a crawl: in Scrapy's HTTP/2 handler, further requests would wait for ever
    for a connection that was refused.
    """

    def __init__(self, addresses: AddressGuard) -> None:
        super().__init__(addresses)
        self._refused: dict[tuple[str, str], Decision] = {}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request whose connections are checked when they are opened."""
        trusted = TRUSTED_KEY in request.meta
        way = site_of(request.url), request.meta.get("proxy") or ""
        known = None if trusted else self._refused.get(way)
        if known is not None:
            raise AddressRefusedError(known)
        guard_reactor()
        attempt = ConnectionAttempt(None if trusted else self._addresses)
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
            # Retrieve the exception, or asyncio logs that it never was.
            sending.add_done_callback(lambda done: done.cancelled() or done.exception())


def _succeeded(sending: asyncio.Future[Response]) -> bool:
    return sending.done() and not sending.cancelled() and sending.exception() is None


class ProxyGuard(ConnectionGuard):
    """For handlers that use `request.meta["proxy"]`: sets an `EgressProxy`, which checks addresses."""

    def __init__(self, addresses: AddressGuard) -> None:
        super().__init__(addresses)
        self._egress = EgressProxy(addresses)

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request through the proxy."""
        if "proxy" in request.meta:
            raise ValueError("the guard of this handler is a proxy; another proxy cannot be used")
        headers = {"Proxy-Authorization": self._egress.authorization}
        return await self._through(request, send_with(request, send, headers, {"proxy": self._egress.url}))

    async def _through(self, request: Request, sending: Any) -> Response:
        """Wait for a request through the proxy; raise `AddressRefusedError` if the proxy refused the connection."""
        await self._egress.open()
        try:
            response: Response = await sending
        except Exception as error:  # handlers raise different exceptions
            refused = self._egress.refusal_of(_host_of(request.url))
            if refused is not None:
                raise AddressRefusedError(refused) from error
            raise
        return response

    async def close(self) -> None:
        """Close the proxy."""
        await self._egress.close()


class BrowserGuard(ProxyGuard):
    """For scrapy-playwright: the browser may only use the proxy; other requests go through the reactor."""

    def __init__(self, addresses: AddressGuard) -> None:
        super().__init__(addresses)
        self._reactor = ReactorGuard(addresses)

    @classmethod
    def for_crawl(cls, crawler: Crawler, context: CrawlContext, handler: Any) -> Self:
        """Create the guard, and set its proxy in the options of the browser, which is not started yet."""
        guard = super().for_crawl(crawler, context, handler)
        guard._set_browser_proxy(handler.config)
        return guard

    def _set_browser_proxy(self, config: Any) -> None:
        egress = self._egress
        flags = (
            f"--proxy-server={egress.url}",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            *NO_DATAGRAM_FLAGS,
        )
        options = dict(config.launch_options)
        options["args"] = [*options.get("args", ()), *flags]
        options["proxy"] = {"server": egress.url, "username": egress.user, "password": egress.password}
        config.launch_options = options

    @staticmethod
    def bypasses_proxy(context: dict[str, Any]) -> bool:
        """Whether the options of a browser context bypass the proxy of the browser."""
        return bool({"proxy", "user_data_dir"} & context.keys())

    def forwards_headers(self, request: Request) -> bool:
        """Whether the browser fetches the request: it sends its headers to the targets of redirects, too."""
        return bool(request.meta.get("playwright"))

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request through the browser or the reactor."""
        if not request.meta.get("playwright"):
            return await self._reactor.fetch(request, send)
        if self.bypasses_proxy(request.meta.get("playwright_context_kwargs") or {}):
            raise ValueError("a browser context with a proxy or a profile of its own cannot be guarded")
        return await self._through(request, send(request))


class HostNameGuard(ConnectionGuard):
    """For all other handlers: checks the addresses of the host before a request is sent.

    It cannot check the address that the handler connects to, so DNS rebinding is not detected.
    """

    def __init__(self, addresses: AddressGuard, hosts: HostAddresses) -> None:
        super().__init__(addresses)
        self._hosts = hosts

    @classmethod
    def for_crawl(cls, crawler: Crawler, context: CrawlContext, handler: Any) -> Self:
        """Create the guard, and add a remark on its weakness to the report of the run."""
        context.hooks.run_ending.append(
            _add_remark(context, HOST_NAMES_ONLY_REMARK.format(handler=type(handler).__name__))
        )
        return cls(context.rules.addresses, feature_of(crawler, HostAddresses))

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request if all addresses of its host or proxy are allowed."""
        if TRUSTED_KEY in request.meta:
            return await send(request)
        host = _host_of(add_http_if_no_scheme(request.meta.get("proxy") or request.url))
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
        decision = self._addresses.check(address)
        if not decision.accept:
            raise AddressRefusedError(decision)


def _host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def _add_remark(context: CrawlContext, remark: str) -> Callable[..., None]:
    def add_remark(*, complete: bool) -> None:  # noqa: ARG001 - the signature of the hook
        if remark not in context.counters.remarks:
            context.counters.add_remark(remark)

    return add_remark
