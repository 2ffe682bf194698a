"""What stands before every request: host names against DNS rebinding, sizes, log-ins that fail too often."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ultracrawl.service.api.problems import problem_answer

LARGEST_BODY = 1 << 20
"""Bytes of the body of a request."""
MOST_FAILED = 20
"""Log-ins of one address that may fail in `WINDOW` before further ones are not looked at."""
WINDOW = 60.0
_MOST_ADDRESSES = 1000
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
]


class RequestGuard:
    """Refuses requests for other hosts than those named, and bodies that are too large; adds headers to answers."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], largest: int = LARGEST_BODY) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._largest = largest
        self._too_large = f"a request has {largest} bytes at the most"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        app: ASGIApp = self._app
        if host_of(headers.get("host", "")) not in self._hosts:
            app = problem_answer(421, "this server does not answer for that host; see `serve --allow-host`")
        elif not length.isdecimal() or int(length) > self._largest:
            app = problem_answer(413, self._too_large)
        await app(scope, self._counted(receive), send_guarded)

    def _counted(self, receive: Receive) -> Receive:
        left = self._largest

        async def receive_counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, self._too_large)
            return message

        return receive_counted


def host_of(text: str) -> str:
    """Return the name in a Host header, without port; empty for what is none."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""


class FailedLogins:
    """Counts log-ins that failed, by address, for a minute each."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, list[float]] = {}

    def too_many(self, address: str) -> bool:
        """Return whether so many failed lately that a further one is not looked at."""
        return len(self._recent(address)) >= MOST_FAILED

    def note_failure(self, address: str) -> None:
        """Count one more."""
        recent = self._recent(address)
        if len(self._failures) >= _MOST_ADDRESSES:
            self._failures.clear()
        self._failures[address] = [*recent, self._clock()][-MOST_FAILED:]

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - WINDOW
        return [at for at in self._failures.get(address, ()) if at > since]
