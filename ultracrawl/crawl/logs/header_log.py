"""The log of request and response headers, with secrets masked (FAST 5.6 header)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ultracrawl.crawl.auth.login_requests import LoginRequest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from ultracrawl.crawl.logs.log_files import ColumnLog
    from ultracrawl.crawl.transport.outgoing import Send

MASK = "****"
SECRET = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "authentication-info",
        "proxy-authentication-info",
        "cookie",
        "cookie2",
        "set-cookie",
        "set-cookie2",
    }
)
"""Headers that hold credentials."""
_SECRET_PARTS = ("auth", "token", "secret", "passw", "api-key", "apikey", "session", "credential")
"""Parts of the names of other headers whose values are masked."""
_WITH_URLS = frozenset({"location", "content-location", "referer", "refresh", "link"})
"""Headers that may repeat the URL of a login, whose query may hold a password."""


class HeaderLog:
    """The innermost layer of the auth chain; logs a line for each request and each response.

    `own` are the names of headers that the definition adds to requests: usually keys and tokens, so they are masked
    too. The URLs of a login are logged without their queries.
    """

    def __init__(self, log: ColumnLog, own: Iterable[str] = ()) -> None:
        self._log = log
        self._secret = SECRET | {name.lower() for name in own}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request and log its headers and those of the response."""
        private = isinstance(request, LoginRequest)
        show = _without_query if private else _unchanged
        self._log.add("request", request.method, show(request.url), *self._lines(request.headers, show))
        response = await send(request)
        lines = self._lines(response.headers, show)
        self._log.add("answer", response.status, show(response.url), *lines)
        return response

    def _lines(self, headers: Headers, show: Callable[[str], str]) -> Iterator[str]:
        for raw, values in headers.items():
            name = raw.decode("latin-1")
            secret, has_url = self._is_secret(name.lower()), name.lower() in _WITH_URLS
            for value in values:
                text = value.decode("latin-1")
                yield f"{name}: {MASK if secret else show(text) if has_url else text}"

    def _is_secret(self, name: str) -> bool:
        return name in self._secret or any(part in name for part in _SECRET_PARTS)


def _unchanged(text: str) -> str:
    return text


def _without_query(text: str) -> str:
    return text.partition("?")[0]
