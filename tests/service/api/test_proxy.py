"""What a reverse proxy changes, and what a client that plays proxy does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ultracrawl.service.api.middleware.proxy import ReverseProxy, inner_path

PROXY = "127.0.0.1"


def scope_of(
    path: str = "/", peer: str | None = PROXY, forwarded: tuple[str, ...] = (), **options: Any
) -> dict[str, Any]:
    """Return what an application behind the proxy sees of a request."""
    seen: list[dict[str, Any]] = []

    async def application(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope)

    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    headers += [
        (b"x-forwarded-host", b"evil.example"),
        (b"x-forwarded-proto", b"https"),
        (b"forwarded", b"for=6.6.6.6"),
    ]
    client = (peer, 5) if peer else None
    request = {"type": "http", "path": path, "client": client, "headers": headers, "scheme": "http"}
    asyncio.run(ReverseProxy(application, **options)(request, None, None))  # type: ignore[arg-type] # not called
    return seen[0]


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        (("192.0.2.1",), "192.0.2.1"),
        (("6.6.6.6, 192.0.2.1",), "192.0.2.1"),
        (("6.6.6.6", "192.0.2.1"), "192.0.2.1"),
        (("10.0.0.5, 10.0.0.6",), "10.0.0.6"),
        (("2001:db8::1",), "2001:db8::1"),
        ((), PROXY),
        (("",), PROXY),
        (("unknown",), PROXY),
        (("192.0.2.1, <script>",), PROXY),
        (("192.0.2.1\r\nx",), PROXY),
    ],
)
def test_the_proxy_says_the_last_address(forwarded: tuple[str, ...], address: str) -> None:
    assert scope_of(forwarded=forwarded, is_trusted=True)["client"][0] == address


def test_without_a_proxy_nobody_says_an_address() -> None:
    assert scope_of(forwarded=("192.0.2.1",))["client"] == (PROXY, 5)


@pytest.mark.parametrize("peer", ["8.8.8.8", "2a00:1450::1"])
def test_a_client_from_the_internet_is_no_proxy(peer: str) -> None:
    assert scope_of(peer=peer, forwarded=("192.0.2.1",), is_trusted=True)["client"][0] == peer


def test_no_other_header_changes_anything() -> None:
    scope = scope_of(is_trusted=True)
    assert (scope["scheme"], scope["client"]) == ("http", (PROXY, 5))


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("/search/api/v1/search", "/api/v1/search"), ("/api/v1/search", "/api/v1/search"), ("/search", "/"),
        ("/search/", "/"), ("/", "/"), ("/searching", "/searching"), ("/healthz", "/healthz"),
    ],
)  # fmt: skip
def test_a_proxy_removes_the_root_path_or_not(path: str, inner: str) -> None:
    scope = scope_of(path, root_path="/search")
    assert scope["root_path"] == "/search"
    assert inner_path(scope) == inner
