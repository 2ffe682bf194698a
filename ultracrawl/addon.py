"""The composition root: one line of Scrapy settings installs every component, in order.

The line is `ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}`.
"""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from ultracrawl.crawl.page_inspection import is_inspection
from ultracrawl.crawl.transport.libcurl import require_libcurl
from ultracrawl.errors import WorkError
from ultracrawl.handlers import FTP_HANDLER, HTTP_HANDLER
from ultracrawl.settings.ineffective import warn_of_ineffective
from ultracrawl.settings.presets import (
    LEAST_FILES,
    MOST_REQUESTS,
    alone,
    closed_schemes,
    components,
    followed_at_once,
    hardened,
    inspecting,
    replaced,
    requests_at_once,
    tuned,
    unpaced,
)
from ultracrawl.sources import DataSource
from ultracrawl.sources.kinds import load_kind

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

LOADER = "ultracrawl.spiders.SourceSpiderLoader"
_OWN = frozenset({None, HTTP_HANDLER, FTP_HANDLER})
LISTED = "ultracrawl.middlewares.listed.ListedMiddleware"
COOKIES = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"


class UltracrawlAddon:
    """Switches everything on for spiders made from definitions; other spiders of a project stay as they are.

    All values but those that keep the downloader from having a pace of its own are set with Scrapy's priority for
    add-ons: settings of the project, of the definition (`settings:`) and of the command line win.
    """

    def __init__(self, source: DataSource | None, *, inspection: bool = False) -> None:
        """`inspection`: single pages are looked at through the spider, and nothing is crawled."""
        self._source = source
        self._inspection = inspection

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the add-on for one crawler; it looks at the spider class to see whether there is work for it."""
        source = getattr(crawler.spidercls, "source", None)
        if not isinstance(source, DataSource):
            return cls(None)
        return cls(source, inspection=is_inspection(crawler))

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Let Scrapy find a spider for each definition.

        `scrapy list`, and with it Scrapyd, asks the spider loader without asking add-ons first (Scrapy 2.19);
        a project that needs them sets `SPIDER_LOADER_CLASS` itself.
        """
        settings.set("SPIDER_LOADER_CLASS", LOADER, priority="addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Install the components for one crawl, or for looking at single pages."""
        if self._source is None:
            return
        for name, value in {
            **hardened,
            **(self._gently(self._source) if self._inspection else tuned),
        }.items():
            settings.set(name, value, priority="addon")
        if not self._inspection:
            warn_of_ineffective(settings, self._source)
            for name, value in unpaced.items():
                settings.set(name, value, priority=SETTINGS_PRIORITIES["cmdline"] + 1)
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY and files < LEAST_FILES:
            raise WorkError(
                f"only {files} files may be open at once, a crawl needs {LEAST_FILES}; allow more of them (ulimit -n)"
            )
        at_once = MOST_REQUESTS if files == resource.RLIM_INFINITY else requests_at_once(files)
        settings.set("CONCURRENT_REQUESTS", at_once, priority="addon")
        if "ftp" in self._source.boundary.schemes:
            settings["DOWNLOAD_HANDLERS"].setdefault("ftp", FTP_HANDLER)
        self._install_kind(settings, self._source)
        for scheme in closed_schemes:
            settings["DOWNLOAD_HANDLERS"].setdefault(scheme, None)
        for scheme in ("http", "https"):
            settings["DOWNLOAD_HANDLERS"].setdefault(scheme, HTTP_HANDLER)
        if HTTP_HANDLER in settings["DOWNLOAD_HANDLERS"].values():
            require_libcurl(f"source {self._source.name}: fetching pages")
        if not _OWN.issuperset(settings["DOWNLOAD_HANDLERS"].values()):
            from ultracrawl.handlers.guarding.choice import guard_handlers  # noqa: PLC0415 - most crawls need none

            guard_handlers(settings, self._source)
        self._install_components(settings, self._source)
        self._apply_limits(settings, self._source)

    @staticmethod
    def _gently(source: DataSource) -> dict[str, Any]:
        """Return what replaces the frontier while single pages are looked at: Scrapy's downloader keeps the delays."""
        return {
            "SCHEDULER": "ultracrawl.scheduler.inspection.InspectionScheduler",
            "DOWNLOAD_DELAY": source.politeness.delay,
            "CONCURRENT_REQUESTS_PER_DOMAIN": source.politeness.concurrency,
        }

    def _install_components(self, settings: BaseSettings, source: DataSource) -> None:
        """Add ours and take out what they replace; an entry that the project made itself is left alone.

        Out of the base list it is not even imported: Scrapy imports what is only switched off, which takes 0.1 s.
        """
        for setting, names in alone.items():
            for path in names:
                settings[setting].pop(path, None)
        for setting, priorities in (inspecting if self._inspection else components).items():
            for path, priority in priorities.items():
                settings[setting].setdefault(path, priority)
        kept = set(followed_at_once) if self._inspection else set()
        unwanted = {setting: set(paths) - kept for setting, paths in replaced.items()}
        if source.cookies.enabled or not settings.getbool("COOKIES_ENABLED"):
            unwanted["DOWNLOADER_MIDDLEWARES"].add(COOKIES)
        for setting, paths in unwanted.items():
            for path in paths - set(settings[setting]):
                settings[f"{setting}_BASE"].pop(path, None)

    @staticmethod
    def _install_kind(settings: BaseSettings, source: DataSource) -> None:
        """Have visits answered by the fetcher of a source, or, while documents are made again, from the store."""
        kind = load_kind(source.type)
        if kind is not None and not settings.getbool("ULTRACRAWL_REINDEX"):
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(LISTED, 580)
        elif kind is not None:
            for scheme in kind.schemes:
                settings["DOWNLOAD_HANDLERS"].setdefault(scheme, settings["DOWNLOAD_HANDLERS"]["http"])

    @staticmethod
    def _apply_limits(settings: BaseSettings, source: DataSource) -> None:
        settings.set("DOWNLOAD_MAXSIZE", source.limits.max_size, priority="addon")
        settings.set("DOWNLOAD_TIMEOUT", source.limits.timeout, priority="addon")
        settings.set("USER_AGENT", source.user_agent, priority="addon")
        settings.set("ULTRACRAWL_HTTP_VERSION", source.http.version, priority="addon")
