"""Pauses the crawl of a source that a pool runs or has queued."""

from __future__ import annotations

from ultracrawl.service.control import readable_status, steer
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command


def pause_crawl(project: Project, pool: CrawlPool, source: str) -> bool:
    """Pause the crawl of a source, in whatever process; False if it has not begun: then its order is withdrawn."""
    if readable_status(project, source) is not None:
        steer(project, source, Command.PAUSE, timeout=0)
        return True
    pool.withdraw(source)
    return False
