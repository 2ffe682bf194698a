"""The report of a run as a line of its log: so who had Scrapyd begin a job learns how it ended."""

from __future__ import annotations

import json
import logging
from typing import Any

from ultracrawl.model import RunReport

logger = logging.getLogger(__name__)
SETTING = "ULTRACRAWL_JOB_REPORT"
"""The setting with which a job writes it."""
_MARK = "ultracrawl-report: "


def log_report(report: RunReport) -> None:
    """Write a report to the log."""
    logger.info("%s%s", _MARK, json.dumps(report.as_json()))


def find_report(log: str) -> dict[str, Any] | None:
    """Return the last report in a log, in the shape of `crawl --json`; None if there is none."""
    _, found, rest = log.rpartition(_MARK)
    try:
        told = json.loads(rest.partition("\n")[0]) if found else None
    except ValueError:
        return None
    return told if isinstance(told, dict) else None
