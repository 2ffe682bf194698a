"""The Scrapy settings that the add-on installs: what keeps a crawl safe, and what makes it fast."""

from __future__ import annotations

from typing import Any

WATCHED = "ULTRACRAWL_WATCHED"
"""The setting of a process that looks at `RunningCrawl.refused` when a crawl has ended."""

FOREIGN_HANDLERS = "ULTRACRAWL_FOREIGN_HANDLERS"
"""The setting of a crawl in which a download handler that is not ours opens connections."""

hardened: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "DOWNLOAD_TLS_MIN_VERSION": "TLSv1.2",
    "REFERRER_POLICY": "same-origin",
    "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False,
}
"""Scrapy's own defaults suit scraping by hand; a crawler that runs unattended takes these."""

closed_schemes: tuple[str, ...] = ("data", "file", "ftp", "s3")
"""Download handlers that are off: no redirect and no link can reach them."""

tuned: dict[str, Any] = {
    # Every response would otherwise create 100 asyncio tasks (about 1 ms of CPU).
    "CONCURRENT_ITEMS": 1,
    "DOWNLOAD_WARNSIZE": 0,
    "DOWNLOADER": "ultracrawl.handlers.downloader.DirectDownloader",
    "DOWNLOADER_STATS": False,
    # Whoever keeps answers (HTTPCACHE_ENABLED) keeps pages: that one was as before is no answer to the next question.
    "HTTPCACHE_IGNORE_HTTP_CODES": [304],
    "ITEM_PROCESSOR": "ultracrawl.pipelines.processor.DocumentPipelines",
    "LOG_FORMATTER": "ultracrawl.settings.log_formatter.QuietLogFormatter",
    "SCHEDULER": "ultracrawl.scheduler.UltracrawlScheduler",
    # Documents wait here for their conversion, and the scheduler bounds how much.
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 256 << 20,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,
}

unpaced: dict[str, Any] = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_DELAY_JITTER": 0,
    "DOWNLOAD_SLOTS": {},
}
"""Politeness is the frontier's: the downloader only passes requests on, whatever a project says."""

MOST_REQUESTS = 256
"""Requests of one crawl that may run at once, whatever their sites; half of them to sites that do not answer."""
_OTHER_FILES = 128
LEAST_FILES = 64
"""Files that a process must be allowed to have open: about 25 of its own, and two for each of 16 requests."""


def requests_at_once(files: int) -> int:
    """Return how many requests may run at once in a process that may have so many files open.

    As many connections again are kept for the next requests.
    """
    return min(MOST_REQUESTS, max((files - _OTHER_FILES) // 2, 16))


components: dict[str, dict[str, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        "ultracrawl.middlewares.filters.FilterMiddleware": 90,
        "ultracrawl.middlewares.robots.RobotsMiddleware": 100,
        # Answers pass these from the bottom to the top.
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
        "ultracrawl.crawl.lifecycle.CrawlLifecycle": 0,
        "ultracrawl.crawl.run.scrapy_statistics.RunTimes": 0,
    },
}

inspecting: dict[str, dict[str, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        name: components["DOWNLOADER_MIDDLEWARES"][name]
        for name in (
            "ultracrawl.middlewares.filters.FilterMiddleware",
            "ultracrawl.middlewares.robots.RobotsMiddleware",
            "ultracrawl.middlewares.acceptance.AcceptanceMiddleware",
        )
    },
    "ITEM_PIPELINES": {"ultracrawl.pipelines.AttributePipeline": 200},
    "EXTENSIONS": {"ultracrawl.crawl.page_inspection.PageInspection": 0},
}
"""What is in their place while single pages are looked at: what judges a page, and nothing that records one."""

followed_at_once: tuple[str, ...] = (
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
    "scrapy.downloadermiddlewares.retry.RetryMiddleware",
    "scrapy.downloadermiddlewares.stats.DownloaderStats",
    "scrapy.extensions.corestats.CoreStats",
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
    "scrapy.spidermiddlewares.referer.RefererMiddleware",
)
"""Components of Scrapy that stay then: there is no frontier that redirects and repeated attempts could wait in."""

alone: dict[str, tuple[str, ...]] = {
    "DOWNLOADER_MIDDLEWARES": tuple(
        f"ultracrawl.middlewares.{name}Middleware"
        for name in ("Robots", "Rewriter", "RedirectBoundary", "Conditional")
    ),
}
"""Names under which a project installs components for its spiders without a definition; sources have theirs above."""

replaced: dict[str, tuple[str, ...]] = {
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
        # It takes proxies of the environment, which a definition does not show.
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
        # It unpickles a file of JOBDIR; what a crawl has to remember is in the document table.
        "scrapy.extensions.spiderstate.SpiderState",
    ),
}
"""Built-in components whose decision one of ours owns; two owners for one decision would contradict each other."""
