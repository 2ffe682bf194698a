"""Chooses the connection guard of a download handler by its class; refuses handlers that cannot be guarded."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from ultracrawl.errors import UserError
from ultracrawl.handlers.guarding.guards import BrowserGuard, HostNameGuard, ProxyGuard, ReactorGuard
from ultracrawl.handlers.guarding.handler import guarded_class
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.settings.presets import FOREIGN_HANDLERS_SETTING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.handlers.guarding.guards import ConnectionGuard
    from ultracrawl.sources import DataSource

DECLARED = "ultracrawl_guarded_by"
"""Attribute of a handler class that declares how it can be guarded: a value of `Guarding`."""


class Guarding(StrEnum):
    """How a handler is restricted to allowed addresses."""

    ITSELF = "itself"
    """It uses the address guard itself, wraps a built-in handler, or opens no connections."""
    REACTOR = "reactor"
    """It connects through Twisted's reactor."""
    PROXY = "proxy"
    """It sends everything through `request.meta["proxy"]`."""
    BROWSER = "browser"
    """scrapy-playwright: pages through a browser, other requests through Scrapy's HTTP/1.1 handler."""


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
    f"{_SCRAPY}._httpx.HttpxDownloadHandler": Guarding.PROXY,
    f"{_SCRAPY}._aiohttp.AiohttpDownloadHandler": Guarding.PROXY,
    "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler": Guarding.BROWSER,
}
GUARDS: dict[Guarding, type[ConnectionGuard]] = {
    Guarding.REACTOR: ReactorGuard,
    Guarding.PROXY: ProxyGuard,
    Guarding.BROWSER: BrowserGuard,
}
_BY_PROXY = frozenset({Guarding.PROXY, Guarding.BROWSER})
_REMOTE_BROWSER_SETTINGS = (
    "PLAYWRIGHT_CDP_URL",
    "PLAYWRIGHT_CONNECT_URL",
    "PLAYWRIGHT_BROWSER_PROVIDER",
)
"""Settings for a browser that this process does not start."""
_NETWORK_FLAGS = ("--proxy", "--no-proxy", "--host-resolver", "--host-rules")


def guarding_of(handler: object) -> Guarding | None:
    """Return how a handler class is guarded; the first class of its MRO that is known or declares it decides."""
    for base in getattr(handler, "__mro__", ()):
        guarding = vars(base).get(DECLARED) or _KNOWN.get(f"{base.__module__}.{base.__qualname__}")
        if guarding:
            return Guarding(guarding)
    return None


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
        _check_access(source, option, guarding)
        if guarding is Guarding.BROWSER:
            _check_browser(settings, option)
        guard = _guard_class(source, guarding, path, option)
        handlers.set(scheme, guarded_class(handler, guard), handlers.getpriority(scheme))
        settings.set(FOREIGN_HANDLERS_SETTING, True, "addon")


def _load_handler(path: str | type, option: str) -> Any:
    try:
        return load_object(path)
    except Exception as error:  # user code may raise anything
        raise UserError(f"{option}: {path} cannot be loaded: {error}") from error


def _guard_class(
    source: DataSource, guarding: Guarding | None, path: object, option: str
) -> type[ConnectionGuard]:
    if guarding is not None:
        return GUARDS[guarding]
    if source.boundary.guard == "names":
        return HostNameGuard
    raise UserError(
        f"{option}: the address guard cannot check the connections of {path}; set `{DECLARED} = 'proxy'` "
        "in the class if it takes the proxy in `request.meta`, or write "
        "`boundary: {guard: names}` if checking host names is enough"
    )


def _check_access(source: DataSource, option: str, guarding: Guarding | None) -> None:
    """Raise `UserError` if the source needs an option that only the built-in handler supports."""
    unable = f"{option}: this handler does not support %s; remove the option, or the handler"
    if source.client_certificates:
        raise UserError(unable % "client_certificates")
    if any(entry.scheme in NTLM_SCHEMES for entry in source.authentication.values()):
        raise UserError(unable % "authentication with NTLM")
    if source.proxy.servers and guarding in _BY_PROXY:
        raise UserError(unable % "proxy.servers")


def _check_browser(settings: BaseSettings, option: str) -> None:
    """Raise `UserError` for settings of scrapy-playwright with which the browser would bypass its guarding proxy."""
    launch = settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
    contexts = settings.getdict("PLAYWRIGHT_CONTEXTS")
    bypassing = [name for name in _REMOTE_BROWSER_SETTINGS if settings.get(name)]
    if settings.get("PLAYWRIGHT_BROWSER_TYPE", "chromium") != "chromium":
        bypassing.append("PLAYWRIGHT_BROWSER_TYPE")
    if "proxy" in launch or any(str(flag).startswith(_NETWORK_FLAGS) for flag in launch.get("args", ())):
        bypassing.append("PLAYWRIGHT_LAUNCH_OPTIONS")
    if any(BrowserGuard.bypasses_proxy(options or {}) for options in contexts.values()):
        bypassing.append("PLAYWRIGHT_CONTEXTS")
    if bypassing:
        raise UserError(
            f"{option}: with the value of {bypassing[0]}, the browser would bypass the address guard"
        )
