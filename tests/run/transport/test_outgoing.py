"""What is added to a request is added to a copy of it."""

from __future__ import annotations

import asyncio

from scrapy import Request
from scrapy.http import Response

from ultracrawl.run.transport.outgoing import send_with


def test_a_request_is_sent_with_more_and_stays_as_it_is() -> None:
    sent: list[Request] = []

    async def send(request: Request) -> Response:
        sent.append(request)
        request.meta["download_latency"] = 0.5
        return Response(request.url)

    visit = object()
    request = Request(
        "http://a.example/", headers={"X-Many": ["1", "2"], "cookie": "old"}, meta={"visit": visit}, body=b"b"
    )
    asyncio.run(send_with(request, send, {"Authorization": "secret", "Cookie": "new"}, {"proxy": "p"}))
    (copy,) = sent
    assert copy.headers.getlist("X-Many") == [b"1", b"2"]
    assert copy.headers.getlist("Cookie") == [b"new"]
    assert (copy.headers["Authorization"], copy.meta["proxy"], copy.body) == (b"secret", "p", b"b")
    assert copy.meta["visit"] is visit
    assert "Authorization" not in request.headers
    assert request.headers.getlist("Cookie") == [b"old"]
    assert request.meta == {"visit": visit, "download_latency": 0.5}
