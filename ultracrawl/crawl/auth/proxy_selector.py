"""The way through proxies: which one, how many at a time, and what if one fails."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError

from ultracrawl.crawl.download_errors.kinds import AddressRefusedError, ProxyLoginError
from ultracrawl.crawl.transport.outgoing import REPEATABLE, Send, send_with
from ultracrawl.rules.access.proxies import Proxy, ProxyPool
from ultracrawl.rules.urls.canonical import host_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.rules.boundary.addresses import AddressPolicy
    from ultracrawl.rules.boundary.matcher import DomainTable

logger = logging.getLogger(__name__)

TRUSTED = "ultracrawl_proxy"
"""Set in the meta of a request whose proxy the definition names: its address needs no other permission."""
_FAILURES = (DownloadConnectionRefusedError, CannotResolveHostError, ProxyLoginError)
"""What a proxy fails with; what a server fails with behind a proxy is the proxy's answer."""
_LOGIN = 407
TIMEOUTS = 2
"""Proxies through which a request may time out; after that it may well be its server that is silent."""


class ProxySelector:
    """Sends requests through proxies. None goes out directly but those to `bypass` hosts."""

    def __init__(self, pool: ProxyPool, bypass: DomainTable, addresses: AddressPolicy) -> None:
        self._pool = pool
        self._bypass = bypass
        self._addresses = addresses
        self._freed = asyncio.Condition()

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request through the next proxy, or another one if that fails. Raises what the last one failed with."""
        host = host_of(request.url)
        if "proxy" in request.meta or self._goes_directly(host):
            return await send(request)
        self._check(host)
        tried: set[str] = set()
        patience = TIMEOUTS if request.method in REPEATABLE else 1
        while True:
            proxy = await self._place(tried)
            tried.add(proxy.name)
            last = not self._pool.knows_other(tried)
            begun = time.monotonic()
            try:
                response = await self._through(proxy, request, send, last=last)
            except DownloadTimeoutError as error:
                patience -= 1
                if not self._hangs(proxy, begun, error) or last or not patience:
                    raise
                continue
            if response is not None:
                return response

    def _goes_directly(self, host: str) -> bool:
        return self._bypass.find(host) is not None

    def _check(self, host: str) -> None:
        """Refuse addresses that the source may not reach: a proxy would reach them from where it stands."""
        local = host == "localhost" or host.endswith(".localhost")
        address = "127.0.0.1" if local else host.strip("[]")
        if not (local or ":" in address or address.replace(".", "").isdigit()):
            return
        decision = self._addresses.check(address)
        if not decision.accept:
            raise AddressRefusedError(decision)

    async def _place(self, tried: set[str]) -> Proxy:
        async with self._freed:
            while True:
                proxy = self._pool.acquire_proxy(time.monotonic(), tried)
                if proxy is not None:
                    return proxy
                await self._freed.wait()

    async def _through(self, proxy: Proxy, request: Request, send: Send, *, last: bool) -> Response | None:
        """Return the answer that came through a proxy; None if the proxy failed and there is another."""
        headers = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else {}
        try:
            response = await send_with(request, send, headers, {"proxy": proxy.url, TRUSTED: proxy.name})
        except _FAILURES as error:
            self._failed(proxy, error)
            if last:
                raise
            return None
        finally:
            await self._give_back(proxy)
        if response.status == _LOGIN:
            self._failed(proxy, ProxyLoginError("407"))
            return response if last else None
        self._pool.note_answer(proxy, time.monotonic())
        return response

    def _hangs(self, proxy: Proxy, begun: float, error: Exception) -> bool:
        """Whether a request timed out because of its proxy: other servers have not answered through it, either."""
        if not self._pool.hangs(proxy, begun):
            return False
        self._failed(proxy, error)
        return True

    def _failed(self, proxy: Proxy, error: Exception) -> None:
        if self._pool.note_failure(proxy, time.monotonic()):
            logger.warning("The proxy %s failed: %s", proxy.name, error)

    async def _give_back(self, proxy: Proxy) -> None:
        self._pool.give_back(proxy)
        async with self._freed:
            self._freed.notify_all()
