"""What a reverse proxy in front of the service changes: the address of the client, and the path that all is below."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

PEER = "peer"
"""The address that a request came from, in the state of the request; that of the client may be behind it."""


class ReverseProxy:
    """Middleware that serves an application below a root path, and takes the address of a client from its proxy.

    A proxy may remove the root path from requests or not. Of `X-Forwarded-For` only the last address counts: the proxy
    added it; all others come from the client. Other headers of this kind change nothing.
    """

    def __init__(self, app: ASGIApp, *, root_path: str = "", is_trusted: bool = False) -> None:
        """`root_path` is empty, or begins with a slash; `is_trusted`: there is a proxy, which sets the header."""
        self._app = app
        self._root_path = root_path
        self._is_trusted = is_trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
        if scope["type"] == "http":
            state = {
                **scope.get("state", {}),
                PEER: str(client[0]) if (client := scope.get("client")) else "",
            }
            scope = {**scope, "client": self._client_of(scope), "state": state}
            if root := self._root_path:
                path = scope["path"]
                is_below = path == root or path.startswith(f"{root}/")
                scope |= {"root_path": root, "path": path if is_below else root + path}
        await self._app(scope, receive, send)

    def _client_of(self, scope: Scope) -> tuple[str, int] | None:
        client: tuple[str, int] | None = scope.get("client")
        forwarded = Headers(scope=scope).getlist("x-forwarded-for")
        if not self._is_trusted or not forwarded or (client is not None and not _is_near(client[0])):
            return client
        address = forwarded[-1].rpartition(",")[2].strip()
        return (address, 0) if _is_address(address) else client


def inner_path(scope: Scope) -> str:
    """Return the path of a request below the root path."""
    return str(scope["path"]).removeprefix(scope.get("root_path", "")) or "/"


def _is_near(address: str) -> bool:
    """Return whether a proxy of ours can have this address: a client from elsewhere says what it likes."""
    try:
        return not ipaddress.ip_address(address).is_global
    except ValueError:
        return True


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
