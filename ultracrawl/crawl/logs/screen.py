"""What a crawl shows of errors on the screen: a line each, unless it is to tell more."""

from __future__ import annotations

import copy
import logging
from typing import TYPE_CHECKING

from scrapy.utils.log import get_scrapy_root_handler

from ultracrawl.settings.presets import WATCHED

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def leave_tracebacks_out(settings: BaseSettings) -> None:
    """Show exceptions by name and text, if it is our own command that logs, to the screen and errors only.

    Scrapy installs its handler anew for each crawl, before the engine is made.
    """
    handler = get_scrapy_root_handler()
    ours = settings.getbool(WATCHED) and not settings["LOG_FILE"]
    if handler is not None and ours and settings["LOG_LEVEL"] in ("ERROR", "CRITICAL"):
        handler.setFormatter(_OneLine(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"]))


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return a record with its exception in the same line (logging's protocol)."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return super().format(record)
        line = copy.copy(record)
        line.msg, line.args = f"{record.getMessage()}: {type(error).__name__}: {error}", ()
        line.exc_info = line.exc_text = None
        return super().format(line)
