"""`scrapy crawl` for sources: Scrapy's command, found by entry point, whose crawl is that of the run function.

Scrapyd runs the same command. Spiders that are no sources are crawled as Scrapy does.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCommand
from scrapy.crawler import AsyncCrawlerProcess

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from ultracrawl.sources import DataSource, Project

logger = logging.getLogger(__name__)


class CrawlCommand(ScrapyCommand):
    """Crawls a source again as long as its filters restart it, and runs its completion command."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl the named spider. Raises `UsageError`."""
        process = self.crawler_process
        found = _source_of(process, args) if isinstance(process, AsyncCrawlerProcess) else None
        if found is None:
            super().run(args, opts)
        else:
            assert isinstance(process, AsyncCrawlerProcess)
            self.exitcode = _crawl(process, *found, opts.spargs)


def _source_of(process: AsyncCrawlerProcess, names: list[str]) -> tuple[Project, DataSource] | None:
    """Return the one source that is named; None if there is none, or if there is no reactor to run it.

    Raises `UsageError` if its definition has mistakes.
    """
    from ultracrawl.spiders.loader import SourceSpiderLoader  # noqa: PLC0415 - for each `scrapy` command

    loader = process.spider_loader
    if len(names) != 1 or not process.settings.getbool("TWISTED_REACTOR_ENABLED"):
        return None
    found = loader.find_source(names[0]) if isinstance(loader, SourceSpiderLoader) else None
    if found is not None:
        loader.load(names[0])  # a class that cannot be used is a mistake of the definition
    return found


def _crawl(
    process: AsyncCrawlerProcess, project: Project, source: DataSource, arguments: Mapping[str, str]
) -> int:
    """Crawl a source in a process of Scrapy; returns the exit code."""
    from ultracrawl.errors import UltracrawlError  # noqa: PLC0415 - as above
    from ultracrawl.service.run import Run, run_here  # noqa: PLC0415 - as above
    from ultracrawl.settings.presets import WATCHED_SETTING  # noqa: PLC0415 - as above

    process.settings.set(WATCHED_SETTING, True, priority="cmdline")
    try:
        run_here(process, Run(project, source, arguments=arguments))
    except UltracrawlError as error:
        logger.error("%s: not crawled: %s", source.name, error)
        return 1
    return 0
