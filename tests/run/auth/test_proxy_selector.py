"""Which requests take another proxy after a time-out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response

from ultracrawl.rules.access.proxies import Proxy, ProxyPool
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.boundary.matcher import DomainTable
from ultracrawl.run.auth.proxy_selector import ProxySelector
from ultracrawl.run.download_errors.kinds import AddressRefusedError


@pytest.mark.parametrize(
    ("method", "silent", "asked", "answered"),
    [
        pytest.param("GET", "a", "ab", True, id="fast_25-get-takes-another"),
        pytest.param("GET", "ab", "ab", False, id="fast_25-two-time-outs-are-enough"),
        pytest.param("POST", "a", "a", False, id="fast_25-fast_204-a-body-goes-out-once"),
    ],
)
def test_a_request_that_timed_out(method: str, silent: str, asked: str, answered: bool) -> None:
    roster = ProxyPool([Proxy(name, f"http://{name}:1") for name in "abc"], rest=60)
    desk = ProxySelector(roster, DomainTable(()), AddressPolicy())
    used: list[str] = []

    async def send(request: Request) -> Response:
        used.append(request.meta["proxy"][7])
        if used[-1] in silent:
            raise DownloadTimeoutError("nothing came")
        return Response(request.url)

    async def fetch() -> Any:
        try:
            return await desk.fetch(Request("http://pages.example/", method=method), send)
        except DownloadTimeoutError:
            return None

    assert (asyncio.run(fetch()) is not None) is answered
    assert "".join(used) == asked
    following = [proxy.name for _ in range(4) if (proxy := roster.acquire_proxy(0))]
    assert len(following) == 4
    assert not set(following) & set(silent) & set(asked), "those that were silent are left alone"


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("http://localhost/", True),
        ("http://wiki.localhost/", True),
        ("http://127.0.0.1/", True),
        ("http://[::1]/", True),
        ("http://10.0.0.1/", True),
        ("http://192.0.2.1.example/", False),
        ("http://notlocalhost/", False),
        ("http://pages.example/", False),
    ],
)
def test_a_proxy_is_not_asked_for_addresses_that_the_source_may_not_reach(url: str, refused: bool) -> None:
    """A name is looked up by the proxy; an address, and what is one by its name, is known here."""
    desk = ProxySelector(ProxyPool([Proxy("a", "http://a:1")], rest=60), DomainTable(()), AddressPolicy())
    sent: list[str] = []

    async def send(request: Request) -> Response:
        sent.append(request.url)
        return Response(request.url)

    async def fetch() -> bool:
        try:
            await desk.fetch(Request(url), send)
        except AddressRefusedError:
            return True
        return False

    assert asyncio.run(fetch()) is refused
    assert len(sent) == (not refused)
