"""Value types shared by all floors.

`Decision` (a rule's answer with its reason), `Finding` (a mistake in a definition; `DefinitionError` carries
several), `UrlOutcome`, `StatusCode` and `Cause` (how a URL ended, and why), `Removal` (why a
document leaves the index), `UrlRecord` (what is known of a URL), `Link` and `Page`
(what one parse of a response gives), `Conversion` (what a converter makes of other documents), `Document` (what goes
through the item pipelines), `RunReport` (one crawl of one source), `CrawlStatistics` (its few numbers),
`ScheduleStatus` (what a schedule is doing).
"""

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
