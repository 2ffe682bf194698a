"""How the connections of a download handler are guarded, by its class; one that nobody can guard is refused."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from ultracrawl.errors import UserError
from ultracrawl.handlers.guarding.handler import guarded_class
from ultracrawl.handlers.guarding.walls import BrowserWall, NamesWall, ProxyWall, ReactorWall
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.settings.presets import FOREIGN_HANDLERS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.handlers.guarding.walls import Wall
    from ultracrawl.sources import DataSource

DECLARED = "ultracrawl_guarded_by"
"""The attribute with which a handler class says how it is guarded: a value of `Guarding`."""


class Guarding(StrEnum):
    """Who sees to it that a handler connects to allowed addresses only."""

    ITSELF = "itself"
    """It asks the guard, is made around one of ours, or opens no connection."""
    REACTOR = "reactor"
    """It connects through Twisted's reactor."""
    PROXY = "proxy"
    """It sends everything through the proxy in the meta of a request."""
    BROWSER = "browser"
    """It is scrapy-playwright: pages by a browser, all else by Scrapy's HTTP/1.1 handler."""


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
WALLS: dict[Guarding, type[Wall]] = {
    Guarding.REACTOR: ReactorWall,
    Guarding.PROXY: ProxyWall,
    Guarding.BROWSER: BrowserWall,
}
"""What a handler is put behind that does not guard itself."""
_THROUGH_A_PROXY = frozenset({Guarding.PROXY, Guarding.BROWSER})
_ELSEWHERE = ("PLAYWRIGHT_CDP_URL", "PLAYWRIGHT_CONNECT_URL", "PLAYWRIGHT_BROWSER_PROVIDER")
"""Settings with which the browser is not one that is started here."""
_NETWORK_FLAGS = ("--proxy", "--no-proxy", "--host-resolver", "--host-rules")


def guarding_of(handler: object) -> Guarding | None:
    """Return how a handler class is guarded, by what it or the nearest of its bases is known for or declares."""
    for one in getattr(handler, "__mro__", ()):
        known = vars(one).get(DECLARED) or _KNOWN.get(f"{one.__module__}.{one.__qualname__}")
        if known:
            return Guarding(known)
    return None


def guard_handlers(settings: BaseSettings, source: DataSource) -> None:
    """Put a guarded handler in the place of each foreign one. Raises `UserError` if one cannot be guarded."""
    handlers = settings["DOWNLOAD_HANDLERS"]
    for scheme, path in list(handlers.items()):
        if path is None or _KNOWN.get(path) is Guarding.ITSELF:
            continue
        option = f"source {source.name}: settings.DOWNLOAD_HANDLERS.{scheme}"
        handler = _loaded(path, option)
        guarding = guarding_of(handler)
        if guarding is Guarding.ITSELF:
            continue
        _check_access(source, option, guarding)
        if guarding is Guarding.BROWSER:
            _check_browser(settings, option)
        wall = _wall_for(source, guarding, path, option)
        handlers.set(scheme, guarded_class(handler, wall), handlers.getpriority(scheme))
        settings.set(FOREIGN_HANDLERS, True, "addon")


def _loaded(path: str | type, option: str) -> Any:
    try:
        return load_object(path)
    except Exception as error:  # the module is somebody's own, and may raise anything
        raise UserError(f"{option}: {path} cannot be loaded: {error}") from error


def _wall_for(source: DataSource, guarding: Guarding | None, path: object, option: str) -> type[Wall]:
    if guarding is not None:
        return WALLS[guarding]
    if source.boundary.guard == "names":
        return NamesWall
    raise UserError(
        f"{option}: nobody can guard the connections of {path}; let the class say `{DECLARED} = 'proxy'` if it takes "
        "the proxy in `request.meta`, or write `boundary: {guard: names}` if checking host names is enough"
    )


def _check_access(source: DataSource, option: str, guarding: Guarding | None) -> None:
    """Refuse what a source needs for its servers, and only our own handler can do."""
    unable = (
        f"{option}: this handler cannot do what the definition asks for: %s; leave it out, or the handler"
    )
    if source.client_certificates:
        raise UserError(unable % "client_certificates")
    if any(entry.scheme in NTLM_SCHEMES for entry in source.authentication.values()):
        raise UserError(unable % "authentication with NTLM")
    if source.proxy.servers and guarding in _THROUGH_A_PROXY:
        raise UserError(unable % "proxy.servers")


def _check_browser(settings: BaseSettings, option: str) -> None:
    """Refuse settings of scrapy-playwright with which the browser would go past the proxy that guards it."""
    launch = settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
    contexts = settings.getdict("PLAYWRIGHT_CONTEXTS")
    past = [name for name in _ELSEWHERE if settings.get(name)]
    if settings.get("PLAYWRIGHT_BROWSER_TYPE", "chromium") != "chromium":
        past.append("PLAYWRIGHT_BROWSER_TYPE")
    if "proxy" in launch or any(str(flag).startswith(_NETWORK_FLAGS) for flag in launch.get("args", ())):
        past.append("PLAYWRIGHT_LAUNCH_OPTIONS")
    if any(BrowserWall.goes_past(options or {}) for options in contexts.values()):
        past.append("PLAYWRIGHT_CONTEXTS")
    if past:
        raise UserError(
            f"{option}: with {past[0]} as it is set, nobody can guard the connections of the browser"
        )
