"""Finds the project: by `-c`, the environment, the Scrapy project or the working directory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracrawl import sources
from ultracrawl.errors import UserError
from ultracrawl.model import Finding
from ultracrawl.model.finding import FindingCode
from ultracrawl.settings.locations import (
    ENVIRONMENT,
    data_folder,
    scrapy_locations,
    scrapy_settings,
    with_data_folder,
    with_location,
)
from ultracrawl.sources.dialects import locate_definitions, read_definitions
from ultracrawl.sources.reading.locations import PROJECT_FILE
from ultracrawl.system.replacement import finish_replacement

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.settings.adhoc import AdhocScope
    from ultracrawl.sources import DataSource, Project


_NEARLY = ("ultracrawl.yml", "ultracrawl.YAML", "Ultracrawl.yaml", "ultracrawl.yaml.txt")
"""Names that are given to the file `ultracrawl.yaml`, and under which it is not read."""


class NoDefinitionError(UserError):
    """There is no definition file where it is looked for; `above` is that of a folder above the working directory.

    `misnamed` is a file here that has nearly its name.
    """

    def __init__(self, above: Path | None, misnamed: Path | None = None) -> None:
        self.above = above
        self.misnamed = misnamed
        if misnamed is not None:
            super().__init__(
                f"there is no {PROJECT_FILE} here, but {misnamed}; rename it, or name it with `-c {misnamed}`"
            )
            return
        instead = f"name that of a folder above with `-c {above}`" if above else "name one with -c"
        super().__init__(
            f"there is no definition file: write ultracrawl.yaml here (`ultracrawl init URL` does), {instead}, "
            "or crawl without any by `ultracrawl crawl URL`"
        )


def misnamed_file() -> Path | None:
    """Return the file in the working directory that was meant as `ultracrawl.yaml`; None if there is none."""
    return next(filter(Path.is_file, map(Path, _NEARLY)), None)


def find_project(config: str | None = None, *, plain: bool = False) -> tuple[Project, Iterable[Finding]]:
    """Return the project that `config`, the environment, the Scrapy project or the working directory names, and hints.

    Without a definition file, the sources of `crawl --url` in ./var/ are the project; beside one, those that share its
    state are its `adhoc_sources`. Sources with mistakes are kept apart in `Project.mistaken`. A restore that was killed
    is ended first. With `plain`, the project may also be the read-only one of the spiders without a definition that
    write to an index by settings of the Scrapy project. Raises `UserError`.
    """
    location, data = locate_project(config)
    from ultracrawl.settings.adhoc import (  # noqa: PLC0415 - only to read definitions
        load_adhoc_project,
        with_adhoc_sources,
    )

    if location is not None:
        loaded = read_definitions(location)
        project = with_data_folder(sources.usable_project(loaded), data)
        finish_replacement(project.state.path)
        return with_adhoc_sources(with_location(project, location)), [
            finding
            for finding in loaded.findings
            if not finding.fatal
            and finding.code is not FindingCode.NEVER_DUE  # `lint`, `serve` and `status` say it
        ]
    settings = scrapy_settings() if plain and not config else None
    plain_spiders = None if settings is None else plain_project(settings)
    if plain_spiders is not None and plain_spiders.index.path.exists():
        finish_replacement(plain_spiders.state.path)
        return plain_spiders, ()
    adhoc = load_adhoc_project(Path.cwd()) or plain_spiders
    if adhoc is None:
        files = (folder / PROJECT_FILE for folder in Path.cwd().parents)
        raise NoDefinitionError(next((file for file in files if file.is_file()), None), misnamed_file())
    finish_replacement(adhoc.state.path)
    return adhoc, ()


def project_of_urls(urls: tuple[str, ...], scope: AdhocScope | None = None) -> tuple[Project, DataSource]:
    """Return the source that `crawl --url` crawls, which is stored with its `scope`, and its project.

    In a folder with definitions it is crawled into their index. Raises `UserError` for an invalid URL or scope, and if
    sources of these definitions crawl its site already.
    """
    from ultracrawl.settings.adhoc import AdhocScope, add_adhoc_source, sites_of  # noqa: PLC0415 - as above

    scope = scope or AdhocScope()

    here = Path.cwd()
    location = locate_project()[0]
    project = find_project()[0] if location is not None else None
    if project is None or project.base.absolute() != here:
        return add_adhoc_source(urls, here, scope)
    wanted = sites_of(urls)
    known, adhoc = project.known_sources, project.adhoc_sources
    defined = [name for name in known if name not in adhoc and wanted & sites_of(known[name].seed_urls)]
    if defined:
        verbs = " or ".join(f"`ultracrawl crawl {name}`" for name in defined)
        raise UserError(
            f"{location} has this site already, in {', '.join(defined)}; leave the URL out, or write {verbs}"
        )
    remembered, source = add_adhoc_source(urls, here, scope)
    if remembered.state.path != project.state.path:
        return remembered, source
    return project.model_copy(
        update={"adhoc_sources": {**project.adhoc_sources, source.name: source}}
    ), source


def find_state_project(config: str | None = None) -> Project:
    """Return the project for orders to running crawls, which need only the folder of the state.

    Mistakes in definitions do not matter. If they hide where the data are, these are in the default place: below the
    folder of the definition file, or the data folder that is set. Raises `UserError` if there are no definitions.
    """
    location, data = locate_project(config)
    if location is None:
        return find_project(config)[0]
    loaded = read_definitions(location)
    project = loaded.project or loaded.partial_project
    if project is None:
        path = Path(location)
        project = sources.make_project(
            sources.DefinitionHead(), {}, path if path.is_dir() else path.parent, mistakes=loaded.fatal
        )
    project = with_data_folder(project, data)
    finish_replacement(project.state.path)
    return with_location(project, location)


def plain_project(settings: BaseSettings | Mapping[str, Any]) -> Project | None:
    """Return the project of spiders without a definition by Scrapy settings, None if these name no data folder.

    Its sources are the spiders that have written to the index. Raises `DefinitionError`.
    """
    data = data_folder(settings)
    if data is None:
        return None
    from ultracrawl.sources.loading.settings_loader import (  # noqa: PLC0415 - slow, and seldom needed
        SETTINGS,
        load_settings,
    )

    # Without hosts the boundary means those of the spider's `start_urls`, which only its crawl knows.
    written = {name: settings.get(name) for name in SETTINGS if name != "ULTRACRAWL_BOUNDARY"}
    project = sources.require(load_settings(written, "spider", (), data))
    (template,) = project.sources.values()
    names = sorted(folder.name for folder in project.cache.path.glob("*") if folder.is_dir())
    spiders = {name: template.model_copy(update={"name": name}) for name in names}
    return project.model_copy(update={"sources": spiders})


def locate_project(config: str | None = None) -> tuple[str | None, str]:
    """Return the location of the definitions, None if there are none, and of the data, empty for the default.

    `config` and environment variables override the Scrapy project, which overrides the working directory.
    """
    scrapy = scrapy_locations()
    location = config or os.environ.get("ULTRACRAWL_CONFIG") or scrapy.definitions
    return locate_definitions(location), os.environ.get(ENVIRONMENT) or scrapy.data
