"""Scrapy's own HTTP/1.1 handler with the address guard."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    TunnelError,
    _TunnelingTCP4ClientEndpoint,
)
from scrapy.exceptions import DownloadFailedError
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet import defer
from twisted.internet.error import ConnectError
from twisted.internet.tcp import Connector
from twisted.web.client import HTTPConnectionPool

from ultracrawl.crawl.failures.download_errors import AddressRefusedError, ProxyLoginError
from ultracrawl.crawl.transport.libcurl import REPAIR, why_no_libcurl
from ultracrawl.crawl.transport.outgoing import LANE, wants_fresh
from ultracrawl.handlers.certifying import CertifyingPolicy
from ultracrawl.handlers.guard import AddressGuard, access_of, guard_of, remark_once

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.interfaces import IStreamClientEndpoint
    from twisted.web._newclient import HTTP11ClientProtocol

    from ultracrawl.crawl.auth.chain import AuthChain
    from ultracrawl.crawl.transport.outgoing import Send

_ONCE = "once"
"""The lane of requests that each have a connection of their own; names of others hold a blank."""


class GuardedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Downloads with Twisted; a connection is opened only to an address that the source's guard accepts.

    Without a guard it is Scrapy's handler. DOWNLOAD_TIMEOUT holds without DownloadTimeoutMiddleware as well.
    """

    def __init__(
        self, crawler: Crawler, guard: AddressGuard | None = None, access: AuthChain | None = None
    ) -> None:
        super().__init__(crawler)
        self._lanes: dict[str, GuardedHTTP11DownloadHandler] = {}
        self._new_lane: Callable[[], GuardedHTTP11DownloadHandler] = lambda: type(self)(
            crawler, guard, access
        )
        self._timeout = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._send: Send = self._fetch
        self._crawler = crawler
        self._unsaid = _shortcomings(crawler)
        if guard is not None:
            self._pool = _guarded_pool(self._pool, guard, access.proxies if access else frozenset())
        if access is not None:
            self._send = access.around(self._fetch)
            if access.certificates:
                policy: Any = CertifyingPolicy(crawler, self._contextFactory, access.certificates)
                self._contextFactory = policy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the handler of a crawler with the guard of its source and what it shows to servers."""
        return cls(crawler, guard_of(crawler), access_of(crawler))

    async def download_request(self, request: Request) -> Response:
        """Return the response; raises Scrapy's download exceptions or `AddressRefusedError`."""
        return await self._send(request)

    async def close(self) -> None:
        """Close all connections; called once when the crawl ends."""
        for lane in self._lanes.values():
            await lane.close()
        await super().close()

    def _lane(self, request: Request) -> GuardedHTTP11DownloadHandler:
        """Return the handler whose connections a request may take: one with a single connection for a lane."""
        name = request.meta.get(LANE, _ONCE if wants_fresh(request) else None)
        if name is None:
            return self
        if name not in self._lanes:
            self._lanes[name] = self._new_lane()
            self._lanes[name]._pool.maxPersistentPerHost = 1
            self._lanes[name]._pool.persistent = name != _ONCE
        return self._lanes[name]

    async def _fetch(self, request: Request) -> Response:
        while self._unsaid:  # now, and not at the start, when no log of the run is open
            remark_once(self._crawler, self._unsaid.pop())
        lane = self._lane(request)
        if LANE in request.meta and wants_fresh(request):
            closed = lane._pool.closeCachedConnections()  # type: ignore[no-untyped-call]  # Twisted's is untyped
            await maybe_deferred_to_future(closed)
        return await lane._download(request)

    async def _download(self, request: Request) -> Response:
        if self._timeout:
            request.meta.setdefault("download_timeout", self._timeout)
        try:
            return await super().download_request(request)
        except TunnelError as error:  # Scrapy lets these two through as they are
            refused = "'status': 407" in str(error)
            raise (ProxyLoginError if refused else DownloadFailedError)(str(error)) from error
        except ConnectError as error:
            raise DownloadFailedError(str(error)) from error


class GuardedReactor:
    """A reactor that opens TCP connections only to accepted addresses; all else is the real reactor's."""

    def __init__(self, reactor: Any, guard: AddressGuard) -> None:
        self._reactor = reactor
        self._guard = guard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def connectTCP(  # noqa: N802 - Twisted's name
        self,
        host: str,
        port: int,
        factory: Any,
        timeout: float = 30,
        bindAddress: tuple[str, int] | None = None,  # noqa: N803 - Twisted's name
    ) -> Connector:
        """Connect to an address, or to a name after `resolve`. Raises `AddressRefusedError`."""
        if _is_address(host):
            self._checked(host)
        connector = Connector(host, port, factory, timeout, bindAddress, self)
        connector.connect()
        return connector

    def resolve(self, name: str, *times: Any) -> defer.Deferred[str]:
        """Resolve a name, and check what it stands for."""
        found: defer.Deferred[str] = self._reactor.resolve(name, *times)
        return found.addCallback(self._checked)

    def _checked(self, address: str) -> str:
        decision = self._guard.check(address)
        if not decision.accept:
            raise AddressRefusedError(decision)
        return address


class _GuardedPool(HTTPConnectionPool):
    """A connection pool whose new connections go through a guarded reactor."""

    guarded: GuardedReactor
    proxies: frozenset[tuple[str, int]]
    """Host and port of the proxies that the definition names; their addresses need no other permission."""

    def getConnection(  # noqa: N802 - Twisted's name
        self, key: Hashable, endpoint: IStreamClientEndpoint
    ) -> defer.Deferred[HTTP11ClientProtocol]:
        """Return a connection; called by Twisted's agent for each request."""
        inner = getattr(endpoint, "_wrappedEndpoint", endpoint)
        if not hasattr(inner, "_reactor"):
            return defer.fail(TypeError(f"the address guard does not know endpoints like {endpoint!r}"))
        if not self._leads_to_proxy(key, inner):
            inner._reactor = self.guarded
        return super().getConnection(key, endpoint)

    def _leads_to_proxy(self, key: Hashable, endpoint: Any) -> bool:
        if isinstance(endpoint, _TunnelingTCP4ClientEndpoint):
            return (_text(endpoint._host), endpoint._port) in self.proxies
        if isinstance(key, tuple) and len(key) > 2 and key[0] == b"http-proxy":  # Scrapy's mark
            return (_text(key[1]), key[2]) in self.proxies
        return False


def _text(host: str | bytes) -> str:
    return host.decode() if isinstance(host, bytes) else host


def _guarded_pool(
    pool: HTTPConnectionPool, guard: AddressGuard, proxies: frozenset[tuple[str, int]]
) -> _GuardedPool:
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    guarded = _GuardedPool(reactor, persistent=True)  # type: ignore[no-untyped-call]  # Twisted's is untyped
    guarded.maxPersistentPerHost = pool.maxPersistentPerHost
    guarded._factory = pool._factory
    guarded.guarded = GuardedReactor(reactor, guard)
    guarded.proxies = proxies
    return guarded


def _shortcomings(crawler: Crawler) -> list[str]:
    """Return what a run is told of a handler that is not on libcurl."""
    found = []
    if reason := why_no_libcurl():
        found.append(
            f"pycurl does not load ({reason}): Scrapy's slower handler is used; repair it with: {REPAIR}"
        )
    version = crawler.settings.get("ULTRACRAWL_HTTP_VERSION", "1.1")
    if version != "1.1":
        found.append(f"http.version {version} needs libcurl; HTTP/1.1 is spoken")
    return found


def _is_address(text: str) -> bool:
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
