"""Sends requests through the proxies of a source, with failover."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError

from ultracrawl.rules.access.proxies import Proxy, ProxyPool
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.download_errors.kinds import AddressRefusedError, ProxyLoginError
from ultracrawl.run.transport.outgoing import REPEATABLE, Send, send_with

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.rules.boundary.addresses import AddressPolicy
    from ultracrawl.rules.boundary.matcher import DomainTable

logger = logging.getLogger(__name__)

TRUSTED_KEY = "ultracrawl_proxy"
"""Key in `Request.meta` for a proxy of the definition, whose address is exempt from the address guard."""
_FAILURES = (DownloadConnectionRefusedError, CannotResolveHostError, ProxyLoginError)
"""Errors of the proxy itself; errors of the server behind it arrive as responses of the proxy."""
_PROXY_AUTH_REQUIRED = 407
MAX_TIMEOUTS = 2
"""Proxies through which a request may time out; after that its server is probably the cause."""


class ProxySelector:
    """Sends requests through proxies; only those to `bypass` hosts are sent directly."""

    def __init__(self, pool: ProxyPool, bypass: DomainTable, addresses: AddressPolicy) -> None:
        self._pool = pool
        self._bypass = bypass
        self._addresses = addresses
        self._freed = asyncio.Condition()

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request through the next proxy, and through others if it fails. Raises the error of the last one."""
        host = host_of(request.url)
        if "proxy" in request.meta or self._bypass.find(host) is not None:
            return await send(request)
        self._check(host)
        tried: set[str] = set()
        timeouts_left = MAX_TIMEOUTS if request.method in REPEATABLE else 1
        while True:
            proxy = await self._acquire(tried)
            tried.add(proxy.name)
            last = not self._pool.has_other(tried)
            started = time.monotonic()
            try:
                response = await self._send_through(proxy, request, send, last=last)
            except DownloadTimeoutError as error:
                timeouts_left -= 1
                if not self._hangs(proxy, started, error) or last or not timeouts_left:
                    raise
                continue
            if response is not None:
                return response

    def _check(self, host: str) -> None:
        """Raise `AddressRefusedError` for literal addresses that the source may not reach: a proxy could reach them."""
        local = host == "localhost" or host.endswith(".localhost")
        address = "127.0.0.1" if local else host.strip("[]")
        if not (local or ":" in address or address.replace(".", "").isdigit()):
            return
        decision = self._addresses.check(address, host)
        if not decision.accept:
            raise AddressRefusedError(decision)

    async def _acquire(self, tried: set[str]) -> Proxy:
        async with self._freed:
            while True:
                proxy = self._pool.acquire_proxy(time.monotonic(), tried)
                if proxy is not None:
                    return proxy
                await self._freed.wait()

    async def _send_through(
        self, proxy: Proxy, request: Request, send: Send, *, last: bool
    ) -> Response | None:
        """Return the response through a proxy; None if the proxy failed and there is another one."""
        headers = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else {}
        try:
            response = await send_with(request, send, headers, {"proxy": proxy.url, TRUSTED_KEY: proxy.name})
        except _FAILURES as error:
            self._note_failure(proxy, error)
            if last:
                raise
            return None
        finally:
            await self._return_proxy(proxy)
        if response.status == _PROXY_AUTH_REQUIRED:
            self._note_failure(proxy, ProxyLoginError("407"))
            return response if last else None
        self._pool.note_answer(proxy, time.monotonic())
        return response

    def _hangs(self, proxy: Proxy, started: float, error: Exception) -> bool:
        """Whether a request timed out because of its proxy, through which other servers have not answered either."""
        if not self._pool.is_silent(proxy, started):
            return False
        self._note_failure(proxy, error)
        return True

    def _note_failure(self, proxy: Proxy, error: Exception) -> None:
        if self._pool.note_failure(proxy, time.monotonic()):
            logger.warning("The proxy %s failed: %s", proxy.name, error)

    async def _return_proxy(self, proxy: Proxy) -> None:
        self._pool.release_proxy(proxy)
        async with self._freed:
            self._freed.notify_all()
