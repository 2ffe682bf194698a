"""Connection guards: they keep third-party download handlers from connecting to addresses a source may not reach."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.url import add_http_if_no_scheme

from ultracrawl.handlers.guarding.reactor import ConnectionAttempt, guard_reactor
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.run import parts_of
from ultracrawl.run.auth.proxy_selector import TRUSTED_KEY
from ultracrawl.run.download_errors.kinds import AddressRefusedError
from ultracrawl.run.transport.host_addresses import HostAddresses

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.handlers.download_control import AddressGuard
    from ultracrawl.model import Decision
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.transport.outgoing import Send

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
        host = _host_of(add_http_if_no_scheme(way[1] or request.url))
        attempt = ConnectionAttempt(None if trusted else self._addresses, host)
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
        context.run.closing_remarks.append(HOST_NAMES_ONLY_REMARK.format(handler=type(handler).__name__))
        return cls(context.rules.addresses, parts_of(crawler)[HostAddresses])

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request if all addresses of its host or proxy are allowed."""
        if TRUSTED_KEY in request.meta:
            return await send(request)
        host = _host_of(add_http_if_no_scheme(request.meta.get("proxy") or request.url))
        addresses = await asyncio.wrap_future(self._hosts.begin_look_up(host))
        if not addresses:
            raise CannotResolveHostError(host)
        for address in addresses:
            self._check(address, host)
        response = await send(request)
        if response.ip_address is not None:
            self._check(str(response.ip_address), host)
        return response

    def _check(self, address: str, host: str) -> None:
        decision = self._addresses.check(address, host)
        if not decision.accept:
            raise AddressRefusedError(decision)


def _host_of(url: str) -> str:
    return urlsplit(url).hostname or ""
