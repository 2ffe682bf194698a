"""Scrapy's `SPIDER_LOADER_CLASS`: one spider for each definition, beside the project's own spiders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object

from ultracrawl.dialects import locate_definitions, read_definitions
from ultracrawl.errors import UserError
from ultracrawl.sources import DataSource, Project, require
from ultracrawl.spiders.source import SourceSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.settings import BaseSettings


class SourceSpiderLoader(SpiderLoader):
    """Lists a spider for each source of the definitions that the setting `ULTRACRAWL_CONFIG` names.

    The setting is a path of a file or folder, or `package:folder`; without it, `$ULTRACRAWL_CONFIG` and then
    `ultracrawl.yaml` in the working directory are taken. Spiders of `SPIDER_MODULES` are found as always.
    """

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        location = locate_definitions(settings.get("ULTRACRAWL_CONFIG"))
        self._project: Project | None = require(read_definitions(location)) if location else None

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Build the loader (Scrapy's protocol)."""
        return cls(settings)

    def load(self, spider_name: str) -> type[Spider]:
        """Return the spider class of a source, or of the project's own modules. Raises `KeyError`."""
        if self._project and spider_name in self._project.sources:
            return spider_class(self._project, self._project.sources[spider_name])
        return super().load(spider_name)

    def list(self) -> list[str]:
        """Return the names of all spiders, sorted."""
        sources = self._project.sources if self._project else ()
        return sorted({*super().list(), *sources})


def spider_class(project: Project, source: DataSource) -> type[SourceSpider]:
    """Make the spider class of one source. Raises `UserError` if its `class` cannot be used."""
    base = SourceSpider
    if source.spider_class:
        try:
            base = load_object(source.spider_class)
        except (ImportError, NameError, ValueError) as error:
            raise UserError(
                f"source {source.name!r}: class {source.spider_class!r} cannot be loaded: {error}"
            ) from error
        if not (isinstance(base, type) and issubclass(base, SourceSpider)):
            raise UserError(
                f"source {source.name!r}: class {source.spider_class!r} has to be a subclass of "
                "ultracrawl.spiders.SourceSpider"
            )
    name = f"{base.__name__}_{source.name}"
    members = {"name": source.name, "source": source, "project": project, "__module__": base.__module__}
    members["custom_settings"] = {**(base.custom_settings or {}), **source.settings}
    return type(name, (base,), members)
