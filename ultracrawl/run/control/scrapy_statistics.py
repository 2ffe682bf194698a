"""Scrapy statistics of a crawl, counted here and written to `crawler.stats` with each flush."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.extensions.corestats import CoreStats
from scrapy.utils.python import global_object_name

from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.model import RunReport


class RunTimes(CoreStats):
    """Scrapy's `CoreStats` without the counts of `ScrapyStatistics`, each of which costs signals per page."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension; it counts start, end and dropped items by signals."""
        extension = cls(crawler.stats)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        crawler.signals.connect(extension.item_dropped, signals.item_dropped)
        return extension


class ScrapyStatistics(Feature):
    """Writes the statistics of Scrapy's `DownloaderStats` and `CoreStats`, at a tenth of their cost.

    `crawler.stats` is updated with each flush and complete at the end of the run.
    """

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._answers = Counter[tuple[str, int]]()
        self._errors = Counter[tuple[str, str]]()
        self._items = 0

    @property
    def answers(self) -> int:
        """The number of responses to requests of any kind."""
        return self._answers.total()

    def count_answer(self, method: str, status: int) -> None:
        """Count a response to a request of any kind."""
        self._answers[method, status] += 1

    def count_error(self, method: str, error: BaseException) -> None:
        """Count a request that failed, or that was not sent because of an error."""
        sent = "" if isinstance(error, IgnoreRequest) else method
        self._errors[sent, global_object_name(type(error))] += 1

    def count_item(self) -> None:
        """Count an item that passed the pipelines."""
        self._items += 1

    def before_flush(self) -> None:
        """Write the counts to `crawler.stats`."""
        for name, number in (
            ("response_received_count", self._answers.total()),
            ("item_scraped_count", self._items),
        ):
            if number:
                self._stats.set_value(name, number)
        requests, statuses, kinds = Counter[str](), Counter[int](), Counter[str]()
        for (method, status), number in self._answers.items():
            requests[method] += number
            statuses[status] += number
        for (method, kind), number in self._errors.items():
            kinds[kind] += number
            if method:
                requests[method] += number
        self._set_counts("downloader/request", "request_method_count", requests)
        self._set_counts("downloader/response", "response_status_count", statuses)
        self._set_counts("downloader/exception", "exception_type_count", kinds)

    def _set_counts(self, total: str, each: str, counts: Counter[str] | Counter[int]) -> None:
        if counts:
            self._stats.set_value(f"{total}_count", counts.total())
            for name, number in counts.items():
                self._stats.set_value(f"downloader/{each}/{name}", number)

    def write_report(self, report: RunReport) -> None:
        """Write all counts and the main numbers of the report."""
        self.before_flush()
        for outcome, number in report.outcomes.items():
            self._stats.set_value(f"ultracrawl/outcome/{outcome}", number)
        for name in ("scheduled", "fetched", "indexed", "deleted", "bytes"):
            self._stats.set_value(f"ultracrawl/{name}", getattr(report, name))
        self._stats.set_value("ultracrawl/excluded", report.rejected_by.total())
