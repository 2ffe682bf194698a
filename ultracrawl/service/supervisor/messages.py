"""The messages between the supervisor and the child process of a crawl."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracrawl.dataclass import dataclass, field
from ultracrawl.service.orders import CrawlOrder
from ultracrawl.sources import Catalog, DataSource, Project


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """The arguments of a child process; the definition is passed as validated, and not read again."""

    project: Project
    source: DataSource
    force: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of Scrapy, which those of the definition override."""
    death: str = ""
    """Why the crawl died for the last time; then only the completion command of the source is run."""


def child_order(project: Project, order: CrawlOrder, log_level: str = "ERROR") -> ChildOrder:
    """Return the arguments of the child process for an order. Raises `UserError` if the source cannot be crawled."""
    source = order.as_ordered(Catalog(project).find(order.source))
    return ChildOrder(project, source, order.force, {"LOG_LEVEL": log_level})
