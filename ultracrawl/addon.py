"""The Scrapy add-on that installs all components: `ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}`."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any, Self

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from ultracrawl.errors import WorkError
from ultracrawl.handlers import FTP_HANDLER, HTTP_HANDLER
from ultracrawl.run.page_inspection import is_inspection
from ultracrawl.run.transport.libcurl import require_libcurl
from ultracrawl.settings.ineffective import warn_of_ineffective
from ultracrawl.settings.presets import (
    CLOSED_SCHEMES,
    COMPONENTS,
    HARDENED_SETTINGS,
    INSPECTION_COMPONENTS,
    INSPECTION_SCRAPY_COMPONENTS,
    MAX_CONCURRENT_REQUESTS,
    MIN_OPEN_FILES,
    REPLACED_COMPONENTS,
    STANDALONE_COMPONENTS,
    TUNED_SETTINGS,
    UNPACED_SETTINGS,
    max_concurrent_requests,
)
from ultracrawl.settings.trust import CA_SETTING, PINS_SETTING
from ultracrawl.sources import DataSource
from ultracrawl.sources.kinds import load_kind

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SPIDER_LOADER = "ultracrawl.spiders.SourceSpiderLoader"
_OWN_HANDLERS = frozenset({None, HTTP_HANDLER, FTP_HANDLER})
FETCHER_MIDDLEWARE = "ultracrawl.middlewares.fetcher.FetcherMiddleware"
COOKIES_MIDDLEWARE = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"


class UltracrawlAddon:
    """Configures the crawlers of spiders made from definitions; other spiders of a project are left unchanged.

    Settings have the priority `addon`: those of the project, the definition (`settings:`) and the command line win.
    Exception: the settings that switch off the downloader's own delays cannot be overridden.
    """

    def __init__(self, source: DataSource | None, *, inspection: bool = False) -> None:
        """`inspection`: the spider only inspects single pages, as `scrapy shell` and `scrapy parse` do."""
        self._source = source
        self._inspection = inspection

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the add-on for one crawler; it is inactive if the spider class has no definition."""
        source = getattr(crawler.spidercls, "source", None)
        if not isinstance(source, DataSource):
            return cls(None)
        return cls(source, inspection=is_inspection(crawler))

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set the spider loader that lists a spider for each definition.

        `scrapy list`, and with it Scrapyd, uses the spider loader before it loads add-ons (Scrapy 2.19);
        a project that needs them sets `SPIDER_LOADER_CLASS` itself.
        """
        settings.set("SPIDER_LOADER_CLASS", SPIDER_LOADER, priority="addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Install the components of a crawl or an inspection.

        Raises `WorkError` if the process may open too few files.
        """
        if self._source is None:
            return
        for name, value in {
            **HARDENED_SETTINGS,
            **(self._inspection_settings(self._source) if self._inspection else TUNED_SETTINGS),
        }.items():
            settings.set(name, value, priority="addon")
        if not self._inspection:
            warn_of_ineffective(settings, self._source)
            for name, value in UNPACED_SETTINGS.items():
                settings.set(name, value, priority=SETTINGS_PRIORITIES["cmdline"] + 1)
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY and files < MIN_OPEN_FILES:
            raise WorkError(
                f"only {files} files may be open at once, a crawl needs {MIN_OPEN_FILES}; "
                "allow more of them (ulimit -n)"
            )
        at_once = (
            MAX_CONCURRENT_REQUESTS if files == resource.RLIM_INFINITY else max_concurrent_requests(files)
        )
        settings.set("CONCURRENT_REQUESTS", at_once, priority="addon")
        if "ftp" in self._source.boundary.schemes:
            settings["DOWNLOAD_HANDLERS"].setdefault("ftp", FTP_HANDLER)
        self._install_kind(settings, self._source)
        for scheme in CLOSED_SCHEMES:
            settings["DOWNLOAD_HANDLERS"].setdefault(scheme, None)
        for scheme in ("http", "https"):
            settings["DOWNLOAD_HANDLERS"].setdefault(scheme, HTTP_HANDLER)
        if HTTP_HANDLER in settings["DOWNLOAD_HANDLERS"].values():
            require_libcurl(f"source {self._source.name}: fetching pages")
        if not _OWN_HANDLERS.issuperset(settings["DOWNLOAD_HANDLERS"].values()):
            from ultracrawl.handlers.guarding.choice import guard_handlers  # noqa: PLC0415 - most crawls need none

            guard_handlers(settings, self._source)
        self._install_components(settings, self._source)
        self._apply_limits(settings, self._source)

    @staticmethod
    def _inspection_settings(source: DataSource) -> dict[str, Any]:
        """Return the settings of an inspection: no frontier, so Scrapy's downloader keeps the politeness delay."""
        return {
            "SCHEDULER": "ultracrawl.scheduler.inspection.InspectionScheduler",
            "DOWNLOAD_DELAY": source.politeness.delay,
            "CONCURRENT_REQUESTS_PER_DOMAIN": source.politeness.concurrency,
        }

    def _install_components(self, settings: BaseSettings, source: DataSource) -> None:
        """Add the components, and remove the built-in ones that they replace; entries of the project are kept.

        They are removed from the base settings: Scrapy imports components that are only disabled, which takes 0.1 s.
        """
        for setting, names in STANDALONE_COMPONENTS.items():
            for path in names:
                settings[setting].pop(path, None)
        for setting, priorities in (INSPECTION_COMPONENTS if self._inspection else COMPONENTS).items():
            for path, priority in priorities.items():
                settings[setting].setdefault(path, priority)
        kept = set(INSPECTION_SCRAPY_COMPONENTS) if self._inspection else set()
        unwanted = {setting: set(paths) - kept for setting, paths in REPLACED_COMPONENTS.items()}
        if source.cookies.enabled or not settings.getbool("COOKIES_ENABLED"):
            unwanted["DOWNLOADER_MIDDLEWARES"].add(COOKIES_MIDDLEWARE)
        for setting, paths in unwanted.items():
            for path in paths - set(settings[setting]):
                settings[f"{setting}_BASE"].pop(path, None)

    @staticmethod
    def _install_kind(settings: BaseSettings, source: DataSource) -> None:
        """Install the fetcher of a listed source; a reindex reads the stored responses instead."""
        kind = load_kind(source.type)
        if kind is not None and not settings.getbool("ULTRACRAWL_REINDEX"):
            settings["DOWNLOADER_MIDDLEWARES"].setdefault(FETCHER_MIDDLEWARE, 580)
        elif kind is not None:
            for scheme in kind.schemes:
                settings["DOWNLOAD_HANDLERS"].setdefault(scheme, settings["DOWNLOAD_HANDLERS"]["http"])

    @staticmethod
    def _apply_limits(settings: BaseSettings, source: DataSource) -> None:
        settings.set("DOWNLOAD_MAXSIZE", source.limits.max_size, priority="addon")
        settings.set("DOWNLOAD_TIMEOUT", source.limits.timeout, priority="addon")
        settings.set("USER_AGENT", source.user_agent, priority="addon")
        settings.set("ULTRACRAWL_HTTP_VERSION", source.http.version, priority="addon")
        settings.set(CA_SETTING, str(source.http.ca or ""), priority="addon")
        pins = {host: ";".join(keys) for host, keys in source.http.pins.items()}
        settings.set(PINS_SETTING, pins, priority="addon")
