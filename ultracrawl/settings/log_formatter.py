"""A log formatter without a line per page: the document table has more, and logging costs time per page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter, LogFormatterResult

from ultracrawl.errors import WorkError

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class QuietLogFormatter(LogFormatter):
    """Logs nothing about single pages; errors in code are logged as usual."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        """Log nothing: the outcome of each URL is in the document table."""
        return None  # type: ignore[return-value]  # documented: None means no line

    def dropped(
        self, item: Any, exception: BaseException, response: Any, spider: Spider
    ) -> LogFormatterResult:
        """Log nothing about unchanged documents."""
        return None  # type: ignore[return-value]  # documented: None means no line

    def item_error(
        self, item: Any, exception: BaseException, response: Any, spider: Spider
    ) -> LogFormatterResult:
        """Log an error that ends the crawl at DEBUG only: the crawl reports it once, in one line."""
        result = super().item_error(item, exception, response, spider)
        if isinstance(exception, WorkError):
            result["level"] = logging.DEBUG
        return result

    def scraped(self, item: Any, response: Any, spider: Spider) -> LogFormatterResult:
        """Log nothing about documents."""
        return None  # type: ignore[return-value]  # documented: None means no line
