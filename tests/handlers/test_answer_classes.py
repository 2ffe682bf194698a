"""Which class a response of libcurl has: the one that Scrapy chooses for the same headers, URL and body."""

from __future__ import annotations

from gzip import compress
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pycurl
import pytest
from scrapy import Request
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from ultracrawl.handlers.curl.client import make_response

INFO = {pycurl.RESPONSE_CODE: 304, pycurl.PRIMARY_IP: "127.0.0.1", pycurl.INFO_HTTP_VERSION: 0}
NAMES = (
    "",
    "a",
    "a.html",
    "a.b.HTML",
    ".html",
    "..html",
    "a.xml",
    "a.json",
    "a.tgz",
    "a.html.gz",
    "a.txt",
    "a.jpg",
)
HEADERS: tuple[dict[bytes, list[bytes]], ...] = (
    {},
    {b"Content-Type": [b"text/html; charset=utf-8"]},
    {b"Content-Type": [b"image/png"]},
    {b"Content-Type": [b"text/html", b"text/plain"]},
    {b"Content-Type": [b"text/html"], b"Content-Encoding": [b"gzip"]},
    {b"Content-Disposition": [b"attachment; filename=a.xml"]},
)


def expect_that_of_scrapy(headers: dict[bytes, list[bytes]], url: str, body: bytes) -> None:
    transfer: Any = SimpleNamespace(
        curl=SimpleNamespace(getinfo=INFO.__getitem__), head=SimpleNamespace(headers=headers), body=body
    )
    expected = responsetypes.from_args(headers=Headers(headers), url=url, body=body)
    assert type(make_response(Request(url), transfer)) is expected, url


@pytest.mark.parametrize("headers", HEADERS, ids=str)
@pytest.mark.parametrize("body", [b"", b"<html>", bytes(range(256))], ids=["empty", "html", "bytes"])
def test_the_class_is_the_one_that_scrapy_chooses(headers: dict[bytes, list[bytes]], body: bytes) -> None:
    if b"Content-Encoding" in headers:
        body = body and compress(body)
    for name in (*NAMES, *(f"{name}?b=c.html" for name in NAMES), *(f"b.html/{name}" for name in NAMES)):
        expect_that_of_scrapy(headers, f"http://localhost/{name}", body)


def test_it_is_so_where_python_looks_at_the_path_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does from 3.13 on."""
    before = responsetypes.mimetypes.guess_type

    def of_path(url: str, strict: bool = True) -> tuple[str | None, str | None]:
        return before(urlsplit(url).path.partition(";")[0], strict)

    monkeypatch.setattr(responsetypes.mimetypes, "guess_type", of_path)
    for name in ("a?f=b.html", "a.html?b=/c/d.xml", "a;b.html", "a.html;b.xml", "a.html#/b.json"):
        expect_that_of_scrapy({}, f"http://localhost/{name}", b"")
