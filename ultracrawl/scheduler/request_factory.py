"""Builds the Scrapy request of a visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import Headers

from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.visit import META_KEY

if TYPE_CHECKING:
    from scrapy import Spider

    from ultracrawl.run import CrawlContext, Visit

FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
MAX_SITEMAP_BYTES = 50 << 20
"""Bytes of a sitemap, as the protocol allows; the limit of pages is a setting."""


class RequestFactory:
    """Builds the requests of a source: URL of the mirror in use, headers, payload and cookie jar."""

    def __init__(self, context: CrawlContext, spider: Spider, mirrors: Mirrors) -> None:
        rules = context.rules
        self._spider = spider
        self._mirrors = mirrors
        self._headers = Headers(rules.headers)
        self._payloads = rules.payloads
        self._grouping = rules.grouping
        self._timeout = context.source.limits.timeout

    def request_for(self, visit: Visit) -> Request:
        """Return the request of a visit."""
        entry = visit.entry
        payload = None if visit.sitemap else self._payloads.of(entry.url)
        request = Request(
            self._mirrors.request_url(entry.url),
            method="GET" if payload is None else "POST",
            body=payload,
            callback=self._spider.read_sitemap if visit.sitemap else self._spider.visit,  # type: ignore[attr-defined]  # the spider is a SourceSpider
            errback=self._spider.failed,  # type: ignore[attr-defined]
            meta={
                META_KEY: visit,
                "download_slot": entry.site,
                "download_timeout": self._timeout,
                "handle_httpstatus_all": True,
                # The URL is canonical; Scrapy would escape it character by character.
                "verbatim_url": True,
                **({"cookiejar": self._grouping.of(host_of(entry.url))} if self._grouping else {}),
                **({"download_maxsize": MAX_SITEMAP_BYTES} if visit.sitemap else {}),
            },
            dont_filter=True,
        )
        headers = Headers() if payload is None else Headers({"Content-Type": FORM_CONTENT_TYPE})
        # The header names are normalised already.
        dict.update(headers, {name: [*values] for name, values in dict.items(self._headers)})
        request.headers = headers
        return request
