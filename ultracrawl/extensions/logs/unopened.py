"""Keeps what Scrapy says of a crawl that could not be opened out of the log; the reason alone is told."""

from __future__ import annotations

import logging

_LOGGERS = ("scrapy.core.engine", "scrapy.utils.signal")


def mute_followers() -> None:
    """Have errors left out that only follow from another: parts that are closed and were never opened."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_cause)  # once, however often it is added


def _is_cause(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, AssertionError):
        return "CoreStats.spider_closed" not in record.getMessage()
    return not (isinstance(error, RuntimeError) and str(error) == "Scraper slot not assigned")
