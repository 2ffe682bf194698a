"""Chooses the connection guard of a download handler by its class; refuses handlers that cannot be guarded."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from ultracrawl.errors import UserError
from ultracrawl.handlers.guarding.guards import HostNameGuard, ReactorGuard
from ultracrawl.handlers.guarding.handler import guarded_class
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.settings.presets import FOREIGN_HANDLERS_SETTING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

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
    if any(entry.scheme in NTLM_SCHEMES for entry in source.authentication.values()):
        raise UserError(unable % "authentication with NTLM")
