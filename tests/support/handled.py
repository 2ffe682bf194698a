"""A page handler over a source and parts made by hand: what became of a page, without a crawl."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import StatsCollector

from support.context import made_context
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.discovery.redirects import RedirectFollower
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.ending import Ending
from ultracrawl.run.placement.duplicates import Duplicates
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.reading.language_detection import DocumentLanguages
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.results import NOTHING_RESERVED
from ultracrawl.run.visit import META_KEY, Visit
from ultracrawl.sources import DataSource, compile_source
from ultracrawl.spiders.source import SourceSpider
from ultracrawl.stores import QueueEntry

URL = "http://h.example/dir/page"


class HandledSource:
    """A source whose spider handles responses; what it asks of the crawl is kept in lists."""

    def __init__(self, spider_class: type[SourceSpider] = SourceSpider, **options: Any) -> None:
        source = DataSource.model_validate({"name": "s", "start_urls": ["http://h.example/"], **options})
        self.followed: list[tuple[list[str], str]] = []
        self.ended: list[Ending] = []
        self.redirected: list[str] = []
        self.refused: list[UrlRecord] = []
        self.retried: list[BaseException] = []
        self.twin: UrlRecord | None = None
        self.redirect_ends = True
        """Whether a redirect ends the visit; else its page is followed."""
        endings = SimpleNamespace(end_visit=self._end)
        queue = SimpleNamespace(
            follow=lambda _visit, links, base, _named=(): self.followed.append((links, base))
        )
        rules = compile_source(source)
        self.context = made_context(
            source, rules=rules, endings=endings, queue=queue, store=SimpleNamespace()
        )
        twins = SimpleNamespace(find=lambda *_: self.twin, refuse=lambda _, twin: self.refused.append(twin))
        self.converter = SimpleNamespace(takes=lambda _: False)
        self.parts: dict[type[object], object] = {
            RedirectFollower: SimpleNamespace(follow=self._redirect),
            PermissionReader: PermissionReader(self.context, lambda _: NOTHING_RESERVED),
            DocumentLanguages: DocumentLanguages("declared", None),
            Duplicates: twins,
            SitemapManager: SimpleNamespace(),
            DocumentConverter: self.converter,
            RetryPolicy: SimpleNamespace(handle_exception=lambda _, error: self.retried.append(error)),
        }
        lifecycle = SimpleNamespace(context=self.context, parts=self.parts)
        self.signals, self.stats = (
            SignalManager(),
            StatsCollector(cast("Any", SimpleNamespace(settings=SimpleNamespace(getbool=lambda _: False)))),
        )
        made = type("Made", (spider_class,), {"name": "s", "source": source, "project": None})
        self.spider: SourceSpider = made()
        crawler: Any = SimpleNamespace(
            get_extension=lambda _: lifecycle, signals=self.signals, stats=self.stats, spider=self.spider
        )
        self.spider.crawler = crawler

    def _end(self, visit: Visit, ending: Ending) -> None:
        self.ended.append(ending)
        visit.note_ending(ending)

    def _redirect(self, _visit: Visit, _status: int, target: str, _base: str, follow_links: Any) -> bool:
        self.redirected.append(target)
        if not self.redirect_ends:
            follow_links()
        return True

    def answered(
        self, body: bytes = b"", *, media_type: str = "text/html", url: str = URL, **fetched: Any
    ) -> tuple[Visit, HtmlResponse]:
        """Return a visit and its response."""
        entry = QueueEntry(url_key(url), url, "h.example", 1, 1)
        visit = Visit(entry, UrlRecord(url, "s", 1))
        headers = fetched.pop("headers", {})
        response = HtmlResponse(url, 200, headers, body, request=Request(url, meta={META_KEY: visit}))
        visit.note_answer(visit.fetch._replace(status=200, media_type=media_type, **fetched))
        return visit, response
