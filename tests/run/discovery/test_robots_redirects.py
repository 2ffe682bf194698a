"""Where a redirect of robots.txt leads: in the one form by which addresses are judged, whatever a site writes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.http import Response

from ultracrawl.run.discovery.site_files import SiteFiles

ROBOTS = "http://h.example/robots.txt"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (b"/x", "http://h.example/x"),
        (b"/gr\xfc\xdfe", "http://h.example/gr%FC%DFe"),
        (b"http://0x7f.1/", "http://127.0.0.1/"),
        (b"http://2130706433:8080/", "http://127.0.0.1:8080/"),
        (b"http://LOCALHOST./", "http://localhost/"),
        (b"http://user:word@10.0.0.1/", "http://10.0.0.1/"),
        (b"http:\\\\10.0.0.1\\", "http://10.0.0.1/"),
        (b"file:///etc/passwd", ""),
        (b"http://[", ""),
        (b"http://h:99999/", ""),
        (b"http://\xff\xfe/", ""),
    ],
    ids=lambda value: f"p1 {value[:20]!r}" if isinstance(value, bytes) else "",
)
def test_p1_a_redirect_of_robots_txt_is_a_canonical_url(location: bytes, expected: str) -> None:
    asked: list[str] = []

    async def send(request: Request) -> Response:
        asked.append(request.url)
        return Response(
            request.url,
            302 if request.url == ROBOTS else 200,
            headers={b"Location": location},
            request=request,
        )

    async def turn(site: str) -> None:
        pass

    context = SimpleNamespace(
        source_at=lambda url: SimpleNamespace(limits=SimpleNamespace(retries=0)),
        rules=SimpleNamespace(robots=SimpleNamespace(timeout=60.0), headers={}),
        queue=SimpleNamespace(wait_for_turn=turn),
    )
    answer = asyncio.run(SiteFiles(cast(Any, context), send).fetch(ROBOTS, has_turn=True))
    assert asked == [ROBOTS, *([expected] if expected else [])]
    assert answer.status == (200 if expected else 404)
