"""Chooses the connection guard of a download handler by its class; refuses handlers that cannot be guarded."""

from __future__ import annotations

import inspect
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import build_from_crawler, load_object

from ultracrawl.errors import UserError
from ultracrawl.handlers.download_control import access_of
from ultracrawl.handlers.guarding.guards import ConnectionGuard, HostNameGuard, ReactorGuard
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.run import context_of
from ultracrawl.settings.presets import FOREIGN_HANDLERS_SETTING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from ultracrawl.run.auth.chain import AuthChain
    from ultracrawl.run.transport.outgoing import Send
    from ultracrawl.sources import DataSource

DECLARED = "ultracrawl_guarded_by"
"""Attribute of a handler class that declares how it can be guarded: a value of `Guarding`."""


class Guarding(StrEnum):
    """How a handler is restricted to allowed addresses."""

    ITSELF = "itself"
    """It uses the address guard itself, wraps a built-in handler, or opens no connections."""
    REACTOR = "reactor"
    """It connects through Twisted's reactor."""


_SCRAPY = "scrapy.core.downloader.handlers"
_KNOWN = {
    "ultracrawl.handlers.curl.handler.CurlDownloadHandler": Guarding.ITSELF,
    "ultracrawl.handlers.ftp.handler.FtpDownloadHandler": Guarding.ITSELF,
    "ultracrawl.handlers.stored.StoredDownloadHandler": Guarding.ITSELF,
    f"{_SCRAPY}.datauri.DataURIDownloadHandler": Guarding.ITSELF,
    f"{_SCRAPY}.file.FileDownloadHandler": Guarding.ITSELF,
    f"{_SCRAPY}.s3.S3DownloadHandler": Guarding.ITSELF,  # it sends with the handler for https
    f"{_SCRAPY}.ftp.FTPDownloadHandler": Guarding.REACTOR,
    f"{_SCRAPY}.http11.HTTP11DownloadHandler": Guarding.REACTOR,
    f"{_SCRAPY}.http2.H2DownloadHandler": Guarding.REACTOR,
}


def guarding_of(handler: object) -> Guarding | None:
    """Return how a handler class is guarded, as it declares itself, or as is known of exactly this class.

    A subclass of a known one may open connections of its own, as scrapy-playwright does.
    """
    known = _KNOWN.get(f"{getattr(handler, '__module__', '')}.{getattr(handler, '__qualname__', '')}")
    declared = getattr(handler, DECLARED, known)
    return Guarding(declared) if declared in set(Guarding) else None


def guard_handlers(settings: BaseSettings, source: DataSource) -> None:
    """Replace each third-party handler by a guarded one. Raises `UserError` if one cannot be guarded."""
    handlers = settings["DOWNLOAD_HANDLERS"]
    for scheme, path in list(handlers.items()):
        if path is None or _KNOWN.get(path) is Guarding.ITSELF:
            continue
        option = f"source {source.name}: settings.DOWNLOAD_HANDLERS.{scheme}"
        handler = _load_handler(path, option)
        guarding = guarding_of(handler)
        if guarding is Guarding.ITSELF:
            continue
        _check_access(source, option)
        guard = ReactorGuard if guarding is Guarding.REACTOR else _names_guard(source, path, option)
        handlers.set(scheme, guarded_class(handler, guard), handlers.getpriority(scheme))
        settings.set(FOREIGN_HANDLERS_SETTING, True, "addon")


def _load_handler(path: str | type, option: str) -> Any:
    try:
        return load_object(path)
    except Exception as error:  # user code may raise anything
        raise UserError(f"{option}: {path} cannot be loaded: {error}") from error


def _names_guard(source: DataSource, path: object, option: str) -> type[HostNameGuard]:
    if source.boundary.guard != "names":
        raise UserError(
            f"{option}: the address guard cannot check the connections of {path}; remove it, or write "
            "`boundary: {guard: names}` if checking host names is enough"
        )
    if used := source.login_options:
        raise UserError(
            f"{option}: {path} would get `{used[0]}`, and only the names of hosts are checked; remove the option, or "
            "the handler"
        )
    return HostNameGuard


def _check_access(source: DataSource, option: str) -> None:
    """Raise `UserError` if the source needs an option that only the built-in handler supports."""
    unable = f"{option}: this handler does not support %s; remove the option, or the handler"
    if source.client_certificates:
        raise UserError(unable % "client_certificates")
    if source.http.ca or source.http.pins:
        raise UserError(unable % ("http.ca" if source.http.ca else "http.pins"))
    if any(entry.scheme in NTLM_SCHEMES for _, entry in source.password_entries):
        raise UserError(unable % "authentication with NTLM")


class GuardedDownloadHandler(BaseDownloadHandler):
    """Sends requests with a third-party handler under a connection guard, with the credentials of the source.

    Credentials are added to a copy of the request after all middlewares, so that only the handler sees them.
    `guarded_class` creates a subclass for each handler class and its guard.
    """

    lazy = False

    handler_class: ClassVar[Any]
    guard: ClassVar[type[ConnectionGuard]]

    def __init__(
        self, crawler: Crawler, handler: Any, guard: ConnectionGuard, access: AuthChain | None
    ) -> None:
        super().__init__(crawler)
        self._handler = handler
        self._guard = guard
        send: Send = partial(guard.fetch, send=_sender(handler, crawler))
        self._send = send if access is None else access.around(send)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the third-party handler and its guard. Raises whatever the handler raises."""
        handler = build_from_crawler(cls.handler_class, crawler)
        guard = cls.guard.for_crawl(crawler, context_of(crawler), handler)
        return cls(crawler, handler, guard, access_of(crawler))

    async def download_request(self, request: Request) -> Response:
        """Return the response. Raises `AddressRefusedError` and whatever the handler raises."""
        response = await self._send(request)
        response.request = request  # some handlers set the copy here, which has the credentials
        return response

    async def close(self) -> None:
        """Close the handler and its guard."""
        try:
            if hasattr(self._handler, "close"):
                await ensure_awaitable(self._handler.close())
        finally:
            await self._guard.close()


def guarded_class(handler: Any, guard: type[ConnectionGuard]) -> type[GuardedDownloadHandler]:
    """Return the guarded subclass for a third-party handler class."""
    own = {"handler_class": handler, "guard": guard, "__module__": __name__}
    return type(f"Guarded{getattr(handler, '__name__', '')}", (GuardedDownloadHandler,), own)


def _sender(handler: Any, crawler: Crawler) -> Send:
    """Return the send function of a handler; old handlers also take the spider, and return a Deferred."""
    if inspect.iscoroutinefunction(handler.download_request):
        send: Send = handler.download_request
        return send

    async def send_with_spider(request: Request) -> Response:
        response: Response = await ensure_awaitable(handler.download_request(request, crawler.spider))
        return response

    return send_with_spider
