"""The headers that went to and fro, with what is secret in them left out (FAST 5.6 header)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ultracrawl.crawl.auth.login_requests import LoginRequest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from ultracrawl.crawl.logs.appended import ColumnLog
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
"""Headers whose values say who somebody is."""
_TELLING = ("auth", "token", "secret", "passw", "api-key", "apikey", "session", "credential")
"""What the names of other headers contain whose values nobody else should see."""
_WITH_URLS = frozenset({"location", "content-location", "referer", "refresh", "link"})
"""Headers that may repeat the URL of a login, and with it a password in its query."""


class HeaderLog:
    """The last step before the network: it has a line for each request and one for each answer.

    `own` are the names of headers that a source adds for single sites: keys and tokens, as a rule, so that their
    values are masked too. The URLs of a login are written without their queries.
    """

    def __init__(self, log: ColumnLog, own: Iterable[str] = ()) -> None:
        self._log = log
        self._secret = SECRET | {name.lower() for name in own}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Pass a request on, and note its headers and those of its answer."""
        private = isinstance(request, LoginRequest)
        show = _without_query if private else _as_it_is
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
        return name in self._secret or any(part in name for part in _TELLING)


def _as_it_is(text: str) -> str:
    return text


def _without_query(text: str) -> str:
    return text.partition("?")[0]
