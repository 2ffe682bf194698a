"""Checks before every request: Host header (against DNS rebinding), body size, and rate of failed log-ins."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ultracrawl.service.api.problems import problem_answer

MAX_BODY_BYTES = 1 << 20
"""Maximum size of a request body."""
MAX_FAILED_LOGINS = 20
"""Failed log-ins of one address within `FAILURE_WINDOW` after which further ones are refused unchecked."""
FAILURE_WINDOW = 60.0
"""Seconds for which a failed log-in counts."""
_MAX_ADDRESSES = 1000
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
]


class RequestGuard:
    """Middleware that refuses unknown hosts and too large bodies, and adds security headers to responses."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], max_body: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._max_body = max_body
        self._too_large = f"a request has {max_body} bytes at the most"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
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
        elif not length.isdecimal() or int(length) > self._max_body:
            app = problem_answer(413, self._too_large)
        await app(scope, self._counted(receive), send_guarded)

    def _counted(self, receive: Receive) -> Receive:
        left = self._max_body

        async def receive_counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, self._too_large)
            return message

        return receive_counted


def host_of(text: str) -> str:
    """Return the host name in a Host header, without port; empty if it is malformed."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""


class FailedLogins:
    """Counts failed log-ins by client address over `FAILURE_WINDOW`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, list[float]] = {}

    def too_many(self, address: str) -> bool:
        """Return whether an address has reached the limit."""
        return len(self._recent(address)) >= MAX_FAILED_LOGINS

    def note_failure(self, address: str) -> None:
        """Count a failed log-in."""
        recent = self._recent(address)
        if len(self._failures) >= _MAX_ADDRESSES:
            self._failures.clear()
        self._failures[address] = [*recent, self._clock()][-MAX_FAILED_LOGINS:]

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - FAILURE_WINDOW
        return [at for at in self._failures.get(address, ()) if at > since]
