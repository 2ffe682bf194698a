"""The report of a run as a line of its log, from which the service reads the result of a Scrapyd job."""

from __future__ import annotations

import json
import logging
from typing import Any

from ultracrawl.model import RunReport

logger = logging.getLogger(__name__)
SETTING = "ULTRACRAWL_JOB_REPORT"
"""The setting that makes a job log its report."""
_MARK = "ultracrawl-report: "


def log_report(report: RunReport) -> None:
    """Write a report to the log."""
    logger.info("%s%s", _MARK, json.dumps(report.as_json()))


def find_report(log: str) -> dict[str, Any] | None:
    """Return the last report in a log, in the shape of `crawl --json`; None if there is none."""
    _, found, rest = log.rpartition(_MARK)
    try:
        report = json.loads(rest.partition("\n")[0]) if found else None
    except ValueError:
        return None
    return report if isinstance(report, dict) else None
