"""The spider loader (`SPIDER_LOADER_CLASS`): one spider for each definition, beside the project's own spiders."""

from __future__ import annotations

import logging
import warnings
from collections.abc import AsyncIterator, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from scrapy.exceptions import UsageError
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.errors import UserError
from ultracrawl.run import context_of
from ultracrawl.settings.adhoc import with_adhoc_sources
from ultracrawl.settings.locations import with_data_folder, with_location
from ultracrawl.sources import Catalog, DataSource, Project, usable_project
from ultracrawl.sources.checking.checks import check_crawling_mode
from ultracrawl.sources.dialects import locate_definitions, read_definitions
from ultracrawl.sources.kinds import SourceKind
from ultracrawl.sources.mistakes import format_names
from ultracrawl.spiders.source import SourceSpider
from ultracrawl.system.plugins import SOURCE_KINDS, PluginError, load_dotted_path
from ultracrawl.system.replacement import finish_replacement

if TYPE_CHECKING:
    import builtins
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


class SpiderDefinitionError(UserError, UsageError):
    """A mistake in the definitions or the class of a source; `scrapy` commands show it without a traceback."""


class SourceSpiderLoader(SpiderLoader):
    """Lists a spider for each source of the definitions at `ULTRACRAWL_CONFIG`.

    The setting is the path of a file or folder, or `package:folder`; its defaults are `$ULTRACRAWL_CONFIG` and
    `ultracrawl.yaml` in the working directory. Relative paths of index, state and cache start at the folder
    `ULTRACRAWL_DATA` (setting or environment variable). Spiders of `SPIDER_MODULES` are found as always; a source
    hides a spider of the same name.

    The definitions are read when the first spider is requested. Mistakes in them raise `SpiderDefinitionError`.
    """

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._location = locate_definitions(settings.get("ULTRACRAWL_CONFIG"))
        self._data: str | None = settings.get("ULTRACRAWL_DATA")
        self._mode: str | None = settings.get("ULTRACRAWL_MODE")

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Create the loader."""
        return cls(settings)

    @cached_property
    def _project(self) -> Project | None:
        if self._location is None:
            return None
        try:
            read = usable_project(read_definitions(self._location))
            project = with_location(with_data_folder(read, self._data), self._location)
            finish_replacement(project.state.path)
            project = with_adhoc_sources(project)
            if project.mistakes or not project.sources:
                Catalog(project).select(())  # raises the `UserError` that names the mistake
        except UserError as error:
            raise SpiderDefinitionError(str(error)) from error
        for name in sorted(project.known_sources.keys() & self._spiders.keys()):
            warnings.warn(f"The spider {name!r} is hidden by the source of that name", stacklevel=4)
        return project

    def load(self, spider_name: str) -> type[Spider]:
        """Return the spider class of a source or of `SPIDER_MODULES`.

        Raises `KeyError` for an unknown name, `SpiderDefinitionError` if the definitions have mistakes.
        """
        if (found := self.find_source(spider_name)) is None:
            return super().load(spider_name)
        try:
            return make_spider_class(*found)
        except UserError as error:
            raise SpiderDefinitionError(str(error)) from error

    def find_source(self, name: str) -> tuple[Project, DataSource] | None:
        """Return a source and its project, None if no source has this name. Raises `SpiderDefinitionError`."""
        if self._project is None or name not in self._project.known_sources:
            return None
        try:
            source = Catalog(self._project).find(name)
            return self._project, _with_crawling_mode(source, self._mode) if self._mode else source
        except UserError as error:
            raise SpiderDefinitionError(str(error)) from error

    def find_by_request(self, request: Request) -> builtins.list[str]:
        """Return the names of the spiders for a request: sources with a start URL on its host come first."""
        host = urlparse_cached(request).hostname
        sources = self._project.sources if self._project else {}
        matching = [
            name
            for name, source in sources.items()
            if any(urlsplit(url).hostname == host for url in source.seed_urls)
        ]
        return [*matching, *(name for name in super().find_by_request(request) if name not in sources)]

    def list(self) -> list[str]:
        """Return the names of all spiders but those of `crawl --url`, sorted. Raises `SpiderDefinitionError`."""
        project = self._project
        own = project.known_sources.keys() - project.adhoc_sources if project else set[str]()
        names = sorted({*super().list(), *own})
        if not names:
            warning = (
                "No definitions here: write ultracrawl.yaml, or name a file or folder in ULTRACRAWL_CONFIG"
            )
            warnings.warn(warning, stacklevel=2)
        return names


def _with_crawling_mode(source: DataSource, mode: str) -> DataSource:
    """Return a copy of the source with the crawling mode of `ULTRACRAWL_MODE`. Raises `UserError`."""
    modes = get_args(DataSource.model_fields["crawling_mode"].annotation)
    if mode not in modes:
        raise UserError(f"ULTRACRAWL_MODE: {mode!r} is no crawling mode; write {format_names(modes)}")
    source = source.model_copy(update={"crawling_mode": mode})
    for finding in check_crawling_mode(source):
        raise UserError(f"ULTRACRAWL_MODE: {finding.problem}; {finding.instead}")
    return source


def make_spider_class(project: Project, source: DataSource) -> type[SourceSpider]:
    """Create the spider class of one source. Raises `UserError` if its `class` or `type` cannot be used."""
    base = base_class(source)
    name = f"{base.__name__}_{source.name}"
    members: dict[str, object] = {
        "name": source.name,
        "source": source,
        "project": project,
        "__module__": base.__module__,
    }
    if base is not SourceSpider:
        members["start"] = _reporting_start(base, source)
    if base.parse is SourceSpider.parse and source.seed_urls:
        members["parse"] = _with_contract(source.seed_urls[0])
    members["custom_settings"] = {**(base.custom_settings or {}), **source.settings}
    return type(name, (base,), members)


def _with_contract(url: str) -> Callable[[SourceSpider, Response], AsyncIterator[Any]]:
    """Return a `parse` method with a contract for `scrapy check`: the page at the URL exists and can be read."""

    async def parse(self: SourceSpider, response: Response) -> AsyncIterator[Any]:
        async for item in SourceSpider.parse(self, response):
            yield item

    parse.__doc__ = f"{SourceSpider.parse.__doc__}\n\n@url {url}\n@returns items 0\n"
    return parse


def _reporting_start(
    base: type[SourceSpider], source: DataSource
) -> Callable[[SourceSpider], AsyncIterator[object]]:
    """Return a `start` that records an exception of the user's class as a problem of the run."""

    async def start(self: SourceSpider) -> AsyncIterator[object]:
        try:
            async for item in base.start(self):
                yield item
        except Exception as error:  # user code may raise anything
            name = source.spider_class or f"{base.__module__}.{base.__qualname__}"
            logger.warning("start() of %s failed", name, exc_info=error)
            context_of(self.crawler).run.note_spider_failure(f"start() of the class {name}", error)

    return start


def base_class(source: DataSource) -> type[SourceSpider]:
    """Return the class that the definition names, or that of its type. Raises `UserError`."""
    kind = SOURCE_KINDS.load(source.type)
    if isinstance(kind, SourceKind):
        return SourceSpider
    if not (isinstance(kind, type) and issubclass(kind, SourceSpider)):
        raise SOURCE_KINDS.find(source.type).wrong_type_error("an ultracrawl.spiders.SourceSpider")
    if source.spider_class is None:
        return kind
    option = f"source {source.name!r}: class {source.spider_class!r}"
    loaded = load_dotted_path(source.spider_class, option)
    if not (isinstance(loaded, type) and issubclass(loaded, kind)):
        parent = "ultracrawl.spiders.SourceSpider" if kind is SourceSpider else SOURCE_KINDS.find(source.type)
        raise PluginError(f"{option} is no subclass of {parent}", "derive it from that class")
    return loaded
