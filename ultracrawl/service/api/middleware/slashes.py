"""Where a path with slashes too many leads."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Match, Router
from starlette.types import Receive, Scope, Send


def redirect_slashes(router: Router) -> None:
    """Let a router redirect from a path that ends in a slash to the one without, by a path alone.

    Starlette's own redirect names the scheme of the connection: behind a proxy that speaks TLS it would lead to http,
    and a client that follows it would send its token in clear text.
    """
    not_found = router.default

    async def without_slashes(scope: Scope, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "")
        path = f"{root}/{scope['path'].removeprefix(root).strip('/')}"
        there = {**scope, "path": path}
        if path != scope["path"] and any(one.matches(there)[0] is not Match.NONE for one in router.routes):
            target = Request(scope).url.replace(scheme="", netloc="", path=path)
            await RedirectResponse(str(target))(scope, receive, send)
        else:
            await not_found(scope, receive, send)

    router.redirect_slashes = False
    router.default = without_slashes
