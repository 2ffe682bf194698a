"""The definition that `ULTRACRAWL_*` settings describe in a project without definitions; mistakes end the crawl."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from scrapy import signals
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.utils.conf import build_component_list
from scrapy.utils.spider import DefaultSpider

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UltracrawlError
from ultracrawl.run.control.refusal import REFUSED, close_as_failed
from ultracrawl.settings.locations import ENVIRONMENT, data_folder
from ultracrawl.settings.projects import find_project, locate_project
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source, require
from ultracrawl.sources.loading.settings_loader import SETTINGS, load_settings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StandaloneDefinition:
    """A source with the name of the spider, and the project around it, as described by settings."""

    project: Project
    """Where data are stored; relative paths are relative to `ULTRACRAWL_DATA`."""
    source: DataSource
    rules: CompiledSource


_known: WeakKeyDictionary[Crawler, StandaloneDefinition] = WeakKeyDictionary()
_refused: WeakKeyDictionary[Crawler, str] = WeakKeyDictionary()


def definition_of(crawler: Crawler) -> StandaloneDefinition:
    """Return the definition in the `ULTRACRAWL_*` settings of a crawler; they are read once.

    If there are mistakes, raises `NotConfigured` and ends the crawl before its first request: each mistake is logged
    on one line, and `scrapy crawl` exits with code 1.
    """
    known = _known.get(crawler)
    if known is None:
        try:
            known = _known[crawler] = _read(crawler)
        except UltracrawlError as error:
            refuse(crawler, str(error))
            raise NotConfigured("its settings have mistakes") from error
    return known


def _read(crawler: Crawler) -> StandaloneDefinition:
    spider = crawler.spider or crawler.spidercls
    settings = {name: crawler.settings.get(name) for name in SETTINGS}
    if (
        crawler.spidercls is DefaultSpider
    ):  # used by `scrapy fetch` and the like, which follow redirects anywhere
        settings["ULTRACRAWL_BOUNDARY"] = None
    urls = [url for url in getattr(spider, "start_urls", None) or () if isinstance(url, str)]
    loaded = load_settings(settings, spider.name, urls, data_folder(crawler.settings) or Path())
    for finding in loaded.findings:
        if not finding.fatal:
            logger.warning("%s", finding)
    project = require(loaded)
    (source,) = project.sources.values()
    return StandaloneDefinition(project, source, compile_source(source, project))


def losses_of(crawler: Crawler, project: Project) -> list[str]:
    """Return what a search does not find of the items that a spider without a definition writes to an index.

    In a Scrapy project with definitions a search reads these, and not the `ULTRACRAWL_*` settings (`project`).
    """
    lost = []
    pipelines = build_component_list(crawler.settings.getwithbase("ITEM_PIPELINES"))
    maps = any(_name_of(one) == "AttributePipeline" for one in pipelines)
    if crawler.settings.get("ULTRACRAWL_ATTRIBUTES") and not maps:
        lost.append(
            "ULTRACRAWL_ATTRIBUTES has no effect: `ITEM_PIPELINES` lacks "
            "`ultracrawl.pipelines.AttributePipeline` (number 200), which maps the fields of items"
        )
    location, _ = locate_project()
    if location is None:
        return lost
    with suppress(UltracrawlError):  # whoever reads the definitions says what is wrong with them
        searched, _ = find_project()
        missing = {
            name: kind for name, kind in project.attributes.items() if name not in searched.schema_attributes
        }
        path = os.path.relpath(project.index.path, searched.base)
        if path != os.path.relpath(searched.index.path, searched.base):
            lost.append(
                f"a search does not find the items: they go to the index {project.index.path}, and {location} names "
                f"another one; write `index: {path}` there"
            )
        if missing:
            advice = ", ".join(f"{name}: {kind.value}" for name, kind in sorted(missing.items()))
            lost.append(
                f"a search cannot filter by {', '.join(sorted(missing))}: {location} does not know these attributes of "
                f"ULTRACRAWL_ATTRIBUTES; write `attributes: {{{advice}}}` there"
            )
    return lost


def _name_of(pipeline: object) -> str:
    """Return the name of the class of a pipeline, which the settings have as a path or as itself."""
    return pipeline.rpartition(".")[2] if isinstance(pipeline, str) else getattr(pipeline, "__name__", "")


def require_data_folder(crawler: Crawler) -> Path:
    """Return the folder of state and index. Raises `NotConfigured` if none is set."""
    folder = data_folder(crawler.settings)
    if folder is None:
        raise NotConfigured(f"{ENVIRONMENT} is not set: it names the folder of state and index")
    return folder


def open_with_spider(crawler: Crawler, open_it: Callable[[], None]) -> None:
    """Call a function when the spider is opened; if it fails, the crawl ends as one that could not begin."""
    crawler_ref = ref(crawler)  # signal receivers must not keep the crawler alive

    def opened() -> None:
        try:
            open_it()
        except UltracrawlError as error:
            running = crawler_ref()
            assert running is not None
            refuse(running, str(error))
            raise CloseSpider(REFUSED) from error

    crawler.signals.connect(opened, signals.spider_opened, weak=False)


def refuse(crawler: Crawler, problem: str) -> None:
    """End a crawl before its first request: its problem is logged line by line, without a traceback, and once.

    The crawler is left without a spider, which gives `scrapy crawl` exit code 1.
    """
    if _refused.setdefault(crawler, problem) is problem:
        for line in problem.splitlines():
            logger.error("%s: not crawled: %s", crawler.spidercls.name, line)
        close_as_failed(crawler)
