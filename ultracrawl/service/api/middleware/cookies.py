"""The cookies of the service: their names, and what browsers may do with them."""

from __future__ import annotations

from enum import StrEnum

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ultracrawl.dataclass import dataclass
from ultracrawl.service.access.logins import DEVICE_LIFE
from ultracrawl.service.access.oidc.attempts import ATTEMPT_LIFE

_FORM_LIFE = 3600


class CookieKind(StrEnum):
    """What a cookie is for."""

    SESSION = "session"
    FORM = "form"
    """Binds a log-in form to the browser that it was sent to."""
    ATTEMPT = "sign_in"
    """Binds a log-in with a provider to the browser that began it."""
    DEVICE = "device"
    """Marks a browser in which a user has logged in."""


_LIVES = {
    CookieKind.FORM: _FORM_LIFE,
    CookieKind.ATTEMPT: ATTEMPT_LIFE,
    CookieKind.DEVICE: DEVICE_LIFE,
}
"""Seconds; a session has a life of its own."""


@dataclass(frozen=True, slots=True)
class Cookies:
    """Cookies of a service, which differ from those of others at the same host by its port.

    All are `HttpOnly` and `SameSite=Lax`.
    """

    port: int = 0
    is_secure: bool = False
    """Whether browsers reach the service by TLS."""
    root_path: str = ""

    def name_of(self, kind: CookieKind) -> str:
        """Return the name of a cookie, with the prefix that lets no other host set it (RFC 6265bis, section 4.1.3)."""
        prefix = ("__Secure-" if self.root_path else "__Host-") if self.is_secure else ""
        return f"{prefix}ultracrawl_{kind.value}_{self.port}"

    def value_of(self, request: Request, kind: CookieKind) -> str:
        """Return the value of a cookie that a request has; empty without it."""
        return request.cookies.get(self.name_of(kind), "")

    def set_on(self, response: Response, kind: CookieKind, value: str, life: float = 0.0) -> None:
        """Set a cookie; an empty value deletes it. `life`: its seconds, if it is that of a session."""
        response.set_cookie(
            self.name_of(kind),
            value,
            max_age=int(life or _LIVES[kind]) if value else 0,
            path=self.root_path or "/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )

    def set_later(self, request: Request, kind: CookieKind, value: str, life: float) -> None:
        """Set a cookie on the response to a request, whoever makes it."""
        carrier = Response()
        self.set_on(carrier, kind, value, life)
        request.state.cookies = carrier.headers.getlist("set-cookie")


class LateCookies:
    """Middleware that adds the cookies of `Cookies.set_later` to responses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""

        async def send_with_cookies(message: Message) -> None:
            if message["type"] == "http.response.start":
                for cookie in scope.get("state", {}).get("cookies", ()):
                    MutableHeaders(scope=message).append("set-cookie", cookie)
            await send(message)

        await self._app(scope, receive, send_with_cookies)
