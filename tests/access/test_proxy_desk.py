"""Which requests take another proxy after a time-out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response

from ultracrawl.access.proxies import Proxy, ProxyRoster
from ultracrawl.boundary import AddressPolicy
from ultracrawl.boundary.matcher import DomainTable
from ultracrawl.extensions.access.proxy_desk import ProxyDesk


@pytest.mark.parametrize(
    ("method", "silent", "asked", "answered"),
    [
        pytest.param("GET", "a", "ab", True, id="fast_25-get-takes-another"),
        pytest.param("GET", "ab", "ab", False, id="fast_25-two-time-outs-are-enough"),
        pytest.param("POST", "a", "a", False, id="fast_25-fast_204-a-body-goes-out-once"),
    ],
)
def test_a_request_that_timed_out(method: str, silent: str, asked: str, answered: bool) -> None:
    roster = ProxyRoster([Proxy(name, f"http://{name}:1") for name in "abc"], rest=60)
    desk = ProxyDesk(roster, DomainTable(()), AddressPolicy())
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
    following = [proxy.name for _ in range(4) if (proxy := roster.take(0))]
    assert len(following) == 4
    assert not set(following) & set(silent) & set(asked), "those that were silent are left alone"
