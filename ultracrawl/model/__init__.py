"""Value types shared by all layers; each is imported on first access.

* `Decision`: the verdict of a rule with its reason
* `Finding`: a mistake in a definition; `DefinitionError` carries several
* `UrlOutcome`, `StatusCode`, `Cause`: how the visit of a URL ended, and why
* `Removal`: why a document leaves the index
* `UrlRecord`: a row of the document table
* `Link`, `Page`: the result of parsing a response
* `Conversion`: the result of converting a document that is not HTML
* `Document`: the item of the item pipelines
* `RunReport`, `CrawlStatistics`: one crawl of one source, and its summary numbers
* `ScheduleStatus`: the state of a schedule
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.model.cause import NO_CAUSE, Cause, CauseCode, Removal, RemovalReason
    from ultracrawl.model.decision import Decision
    from ultracrawl.model.document import AttributeValue, Conversion, Document
    from ultracrawl.model.finding import DefinitionError, Finding
    from ultracrawl.model.outcome import UrlOutcome
    from ultracrawl.model.page import Link, LinkKind, Page, RobotsDirectives, Section
    from ultracrawl.model.record import UrlRecord
    from ultracrawl.model.run import RunReport, ScheduleStatus
    from ultracrawl.model.statistics import CrawlStatistics
    from ultracrawl.model.status import StatusCode, status_text

_LAZY_NAMES = {
    "NO_CAUSE": "cause",
    "Cause": "cause",
    "CauseCode": "cause",
    "Removal": "cause",
    "RemovalReason": "cause",
    "Decision": "decision",
    "AttributeValue": "document",
    "Conversion": "document",
    "Document": "document",
    "DefinitionError": "finding",
    "Finding": "finding",
    "UrlOutcome": "outcome",
    "Link": "page",
    "LinkKind": "page",
    "Page": "page",
    "RobotsDirectives": "page",
    "Section": "page",
    "UrlRecord": "record",
    "RunReport": "run",
    "ScheduleStatus": "run",
    "CrawlStatistics": "statistics",
    "StatusCode": "status",
    "status_text": "status",
}

__all__ = [
    "NO_CAUSE",
    "AttributeValue",
    "Cause",
    "CauseCode",
    "Conversion",
    "CrawlStatistics",
    "Decision",
    "DefinitionError",
    "Document",
    "Finding",
    "Link",
    "LinkKind",
    "Page",
    "Removal",
    "RemovalReason",
    "RobotsDirectives",
    "RunReport",
    "ScheduleStatus",
    "Section",
    "StatusCode",
    "UrlOutcome",
    "UrlRecord",
    "status_text",
]


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
