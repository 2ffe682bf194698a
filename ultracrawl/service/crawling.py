"""Crawls sources: a single one in this process, several in child processes; loads only what that needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ultracrawl.model import RunReport
from ultracrawl.service import supervisor
from ultracrawl.sources import DataSource, Project

if TYPE_CHECKING:
    from ultracrawl.service.orders import Show
    from ultracrawl.service.run import Watcher


def crawl_sources(
    project: Project,
    sources: Iterable[DataSource],
    *,
    jobs: int | None = None,
    force: bool = False,
    settings: Mapping[str, Any] | None = None,
    given_urls: tuple[str, ...] = (),
    watcher: Watcher | None = None,
    show: Show | None = None,
) -> list[RunReport]:
    """Crawl sources and return the reports of those that were started, in their order.

    A single one is crawled in this process with the `given_urls`, and `watcher` is called on its way; see `run_source`,
    which says what is raised. Several are crawled in child processes, `jobs` at a time, and `show` is called on the
    way; see `crawl_together`. If one of them cannot start, its report has the reason.
    """
    chosen = list(sources)
    if len(chosen) == 1:
        from ultracrawl.service.run import run_source  # noqa: PLC0415 - crawls in child processes need no Scrapy here

        return run_source(
            project, chosen[0], force=force, settings=settings, watcher=watcher, given_urls=given_urls
        )
    return supervisor.crawl_together(project, chosen, jobs, settings or {}, force=force, show=show)
