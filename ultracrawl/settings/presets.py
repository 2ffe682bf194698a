"""The Scrapy settings and components that the add-on installs."""

from __future__ import annotations

from typing import Any

WATCHED_SETTING = "ULTRACRAWL_WATCHED"
"""Name of the setting that says that the process reads `RunningCrawl.refused` at the end of a crawl."""

REPORTED_SETTING = "ULTRACRAWL_REPORTED"
"""Name of the setting that says that a person gets the report of the run, so that its problems need not be logged."""

FOREIGN_HANDLERS_SETTING = "ULTRACRAWL_FOREIGN_HANDLERS"
"""Name of the setting of crawls in which a third-party download handler opens connections."""

HARDENED_SETTINGS: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "DOWNLOAD_TLS_MIN_VERSION": "TLSv1.2",
    "REFERRER_POLICY": "same-origin",
    "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False,
}
"""Settings for safety; the defaults of Scrapy do not suit a crawler that runs unattended."""

CLOSED_SCHEMES: tuple[str, ...] = ("data", "file", "ftp", "s3")
"""Schemes of disabled download handlers, which no redirect or link may reach."""

TUNED_SETTINGS: dict[str, Any] = {
    # The default creates 100 asyncio tasks per response (about 1 ms of CPU).
    "CONCURRENT_ITEMS": 1,
    "DOWNLOAD_WARNSIZE": 0,
    "DOWNLOADER": "ultracrawl.handlers.downloader.DirectDownloader",
    "DOWNLOADER_STATS": False,
    # For HTTPCACHE_ENABLED: a cached 304 has no body, so the cache must keep the page instead.
    "HTTPCACHE_IGNORE_HTTP_CODES": [304],
    "ITEM_PROCESSOR": "ultracrawl.pipelines.processor.DocumentPipelines",
    "LOG_FORMATTER": "ultracrawl.settings.log_formatter.QuietLogFormatter",
    "SCHEDULER": "ultracrawl.scheduler.UltracrawlScheduler",
    # Responses wait here for their conversion; the scheduler limits their total size.
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 256 << 20,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,
}

UNPACED_SETTINGS: dict[str, Any] = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_DELAY_JITTER": 0,
    "DOWNLOAD_SLOTS": {},
}
"""Turn off the delays and limits of the downloader, also those of a project: the frontier paces requests."""

MAX_CONCURRENT_REQUESTS = 256
"""Maximum number of concurrent requests of a crawl; at most half of them to sites that do not answer."""
_OTHER_FILES = 128
MIN_OPEN_FILES = 64
"""Minimum limit on open files: about 25 of the process, and two for each of 16 requests."""


def max_concurrent_requests(files: int) -> int:
    """Return the number of concurrent requests for a limit on open files.

    The same number of connections is kept open for later requests.
    """
    return min(MAX_CONCURRENT_REQUESTS, max((files - _OTHER_FILES) // 2, 16))


COMPONENTS: dict[str, dict[str, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        "ultracrawl.middlewares.filters.FilterMiddleware": 90,
        "ultracrawl.middlewares.robots.RobotsMiddleware": 100,
        # Responses pass these from the bottom to the top.
        "ultracrawl.middlewares.status.StatusMiddleware": 510,
        "ultracrawl.middlewares.redirect.RedirectBoundaryMiddleware": 520,
        "ultracrawl.middlewares.conditional.ConditionalMiddleware": 540,
        "ultracrawl.middlewares.acceptance.AcceptanceMiddleware": 560,
    },
    "ITEM_PIPELINES": {
        "ultracrawl.pipelines.ChecksumPipeline": 100,
        "ultracrawl.pipelines.AttributePipeline": 200,
        "ultracrawl.pipelines.IndexPipeline": 900,
    },
    "EXTENSIONS": {
        "ultracrawl.run.lifecycle.CrawlLifecycle": 0,
        "ultracrawl.run.control.scrapy_statistics.RunTimes": 0,
    },
}

INSPECTION_COMPONENTS: dict[str, dict[str, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        name: COMPONENTS["DOWNLOADER_MIDDLEWARES"][name]
        for name in (
            "ultracrawl.middlewares.filters.FilterMiddleware",
            "ultracrawl.middlewares.robots.RobotsMiddleware",
            "ultracrawl.middlewares.acceptance.AcceptanceMiddleware",
        )
    },
    "ITEM_PIPELINES": {"ultracrawl.pipelines.AttributePipeline": 200},
    "EXTENSIONS": {"ultracrawl.run.page_inspection.PageInspection": 0},
}
"""Components for the inspection of single pages: they judge a page, and record nothing."""

INSPECTION_SCRAPY_COMPONENTS: tuple[str, ...] = (
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
    "scrapy.downloadermiddlewares.retry.RetryMiddleware",
    "scrapy.downloadermiddlewares.stats.DownloaderStats",
    "scrapy.extensions.corestats.CoreStats",
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
    "scrapy.spidermiddlewares.referer.RefererMiddleware",
)
"""Scrapy components that stay for inspection, because there is no frontier to queue redirects and retries."""

STANDALONE_COMPONENTS: dict[str, tuple[str, ...]] = {
    "DOWNLOADER_MIDDLEWARES": tuple(
        f"ultracrawl.middlewares.{name}Middleware"
        for name in ("Robots", "Rewriter", "RedirectBoundary", "Conditional")
    ),
}
"""Components that a project installs for spiders without a definition; sources use `COMPONENTS` instead."""

REPLACED_COMPONENTS: dict[str, tuple[str, ...]] = {
    "DOWNLOADER_MIDDLEWARES": (
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
        "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware",
        "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware",
        "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware",
        "scrapy.downloadermiddlewares.retry.RetryMiddleware",
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
        "scrapy.downloadermiddlewares.stats.DownloaderStats",
        # It uses the proxies of the environment, which a definition does not show.
        "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware",
    ),
    "SPIDER_MIDDLEWARES": (
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
        "scrapy.spidermiddlewares.referer.RefererMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
        "scrapy.spidermiddlewares.depth.DepthMiddleware",
    ),
    "EXTENSIONS": (
        "scrapy.extensions.corestats.CoreStats",
        "scrapy.extensions.telnet.TelnetConsole",
        "scrapy.extensions.remote_control.RemoteControl",
        # It unpickles a file of JOBDIR; the state of a crawl is in the document table.
        "scrapy.extensions.spiderstate.SpiderState",
    ),
}
"""Scrapy components that are disabled because one of ours makes the same decision."""
