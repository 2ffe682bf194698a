"""Checks before every request: Host header (against DNS rebinding), body size, requests in progress."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ultracrawl.service.api.middleware.proxy import inner_path
from ultracrawl.service.api.problems import problem_answer

MAX_BODY_BYTES = 1 << 20
"""Maximum size of a request body."""
MAX_REQUESTS = 300
"""Requests in progress above which further ones get status 503. One whose body is not complete does not count."""
HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered however many requests are in progress."""
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
]
"""Headers of every response, unless it sets its own."""


class RequestGuard:
    """Middleware that refuses unknown hosts, too large bodies and too many requests, and adds security headers.

    It reads the whole body before the application begins, so that a client that sends slowly takes nobody's place.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        max_body: int = MAX_BODY_BYTES,
        max_requests: int = MAX_REQUESTS,
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._max_body = max_body
        self._places = max_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _with_security(message.get("headers", ()))}
            await send(message)

        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if host_of(headers.get("host", "")) not in self._hosts:
            refusal = problem_answer(
                421, "this server does not answer for that host; see `serve --allow-host`"
            )
            await refusal(scope, receive, send_guarded)
        elif not length.isdecimal() or int(length) > self._max_body:
            await self._too_large()(scope, receive, send_guarded)
        elif inner_path(scope) in HEALTH_PATHS:
            await self._app(scope, receive, send_guarded)
        else:
            await self._admit(scope, receive, send_guarded)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then run the application if there is a place."""
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_body:
                await self._too_large()(scope, receive, send)
                return
        if not self._places:
            detail = "too many requests are in progress; try again"
            await problem_answer(503, detail, {"Retry-After": "1"})(scope, receive, send)
            return
        self._places -= 1
        try:
            await self._app(scope, _again(bytes(body), receive), send)
        finally:
            self._places += 1

    def _too_large(self) -> ASGIApp:
        return problem_answer(413, f"a request has {self._max_body} bytes at the most")


def _with_security(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a response with the security headers that it does not set itself."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    return [*own, *(header for header in _HEADERS if header[0] not in names)]


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that starts with a body that has been read already."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again


def host_of(text: str) -> str:
    """Return the host name in a Host header, without port; empty if it is malformed."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""
