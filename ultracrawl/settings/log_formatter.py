"""Scrapy's log lines per page, switched off: the document table holds more, and logging costs time per page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter, LogFormatterResult

from ultracrawl.errors import WorkError

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class QuietLogFormatter(LogFormatter):
    """Says nothing about single pages; errors of code are logged as always."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        """Say nothing: each URL's outcome is in the document table."""
        return None  # type: ignore[return-value]  # documented: None means no line

    def dropped(
        self, item: Any, exception: BaseException, response: Any, spider: Spider
    ) -> LogFormatterResult:
        """Say nothing about unchanged documents."""
        return None  # type: ignore[return-value]  # documented: None means no line

    def item_error(
        self, item: Any, exception: BaseException, response: Any, spider: Spider
    ) -> LogFormatterResult:
        """Log an error that ends the crawl at DEBUG only: the crawl itself reports it, once and in one line."""
        result = super().item_error(item, exception, response, spider)
        if isinstance(exception, WorkError):
            result["level"] = logging.DEBUG
        return result

    def scraped(self, item: Any, response: Any, spider: Spider) -> LogFormatterResult:
        """Say nothing about documents."""
        return None  # type: ignore[return-value]  # documented: None means no line
