"""What Scrapy's statistics say of a crawl, counted once and told now and then."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.extensions.corestats import CoreStats
from scrapy.utils.python import global_object_name

from ultracrawl.crawl.hooks import Feature

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ultracrawl.model import RunReport


class RunTimes(CoreStats):
    """Scrapy's `CoreStats` without the counts that `ScrapyStatistics` tells: each costs signals a page."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension of a crawler; beginning, end and dropped items are told when they happen."""
        made = cls(crawler.stats)
        crawler.signals.connect(made.spider_opened, signals.spider_opened)
        crawler.signals.connect(made.spider_closed, signals.spider_closed)
        crawler.signals.connect(made.item_dropped, signals.item_dropped)
        return made


class ScrapyStatistics(Feature):
    """Tells `crawler.stats` what Scrapy's `DownloaderStats` and `CoreStats` would, which costs ten times as much.

    The statistics are as old as the last flush; at the end of the run they are complete.
    """

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._answers = Counter[tuple[str, int]]()
        self._errors = Counter[tuple[str, str]]()
        self._items = 0

    def count_answer(self, method: str, status: int) -> None:
        """Count an answer to a request of any kind."""
        self._answers[method, status] += 1

    def count_error(self, method: str, error: BaseException) -> None:
        """Count a request that brought an error instead of an answer, or was not made because of it."""
        made = "" if isinstance(error, IgnoreRequest) else method
        self._errors[made, global_object_name(type(error))] += 1

    def count_item(self) -> None:
        """Count an item that passed the pipelines."""
        self._items += 1

    def before_flush(self) -> None:
        """Tell what was counted so far."""
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
        self._tell("downloader/request", "request_method_count", requests)
        self._tell("downloader/response", "response_status_count", statuses)
        self._tell("downloader/exception", "exception_type_count", kinds)

    def _tell(self, total: str, each: str, counts: Counter[str] | Counter[int]) -> None:
        if counts:
            self._stats.set_value(f"{total}_count", counts.total())
            for name, number in counts.items():
                self._stats.set_value(f"downloader/{each}/{name}", number)

    def tell_report(self, report: RunReport) -> None:
        """Tell what became of the run."""
        self.before_flush()
        for outcome, number in report.outcomes.items():
            self._stats.set_value(f"ultracrawl/outcome/{outcome}", number)
        for name in ("scheduled", "fetched", "indexed", "deleted", "bytes"):
            self._stats.set_value(f"ultracrawl/{name}", getattr(report, name))
        self._stats.set_value("ultracrawl/excluded", report.rejected_by.total())
