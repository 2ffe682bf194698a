"""What the process of a crawl is told, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ultracrawl.service.orders import CrawlOrder
from ultracrawl.sources import Catalog, DataSource, Project


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """What the process of a crawl has to know: the definition as it was validated, whatever the file says now."""

    project: Project
    source: DataSource
    force: bool = False
    log_level: str = "ERROR"
    death: str = ""
    """Why its crawl died, which is not begun again: all that is left to do is what the source wants done then."""


def child_order(project: Project, order: CrawlOrder, log_level: str = "ERROR") -> ChildOrder:
    """Return what the process of an order has to know. Raises `UserError` for a source that cannot be crawled."""
    source = order.as_ordered(Catalog(project).find(order.source))
    return ChildOrder(project, source, order.force, log_level)


@dataclass(frozen=True, slots=True)
class Live:
    """How a crawl goes."""

    run: str = ""
    paused: bool = False
    site: str = ""
    """The site that is asked just now, or one of them."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Numbers so far: fetched, indexed, deleted, queued, done, failed."""
