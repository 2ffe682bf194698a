"""From what somebody names, or nothing, to the project that is meant."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracrawl.errors import UserError
from ultracrawl.model import Finding
from ultracrawl.settings.places import ENVIRONMENT, data_folder, placed, scrapy_place, scrapy_settings
from ultracrawl.sources.dialects import locate_definitions, read_definitions

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.sources import Project


def find_project(config: str | None = None, *, plain: bool = False) -> tuple[Project, Iterable[Finding]]:
    """Read the project that `config`, the environment, the Scrapy project or the working directory names.

    Without any file, what `crawl --url` left in ./var/ is the project. Sources with mistakes are set apart in it; what
    else was found in the file comes beside it. With `plain`, the project may be one to look at only: of the spiders
    without a definition that write to an index by settings of the Scrapy project. Raises `UserError`.
    """
    location, data = found_definitions(config)
    from ultracrawl.settings.adhoc import remembered  # noqa: PLC0415 - what looks for definitions need not read them
    from ultracrawl.sources import usable_project  # noqa: PLC0415 - as above

    if location is not None:
        loaded = read_definitions(location)
        return placed(usable_project(loaded), data), [
            finding for finding in loaded.findings if not finding.fatal
        ]
    settings = scrapy_settings() if plain and not config else None
    own = None if settings is None else plain_project(settings)
    if own is not None and own.index.path.exists():
        return own, ()
    adhoc = remembered(Path.cwd()) or own
    if adhoc is None:
        raise UserError(
            "there is no definition file: write ultracrawl.yaml here (`ultracrawl init DIR` makes a project), name one "
            "with -c, or crawl without any by `ultracrawl crawl --url URL`"
        )
    return adhoc, ()


def plain_project(settings: BaseSettings | Mapping[str, Any]) -> Project | None:
    """Return the project that settings of a Scrapy project describe, None if they name no folder for data.

    Its sources are the spiders that have written to the index. Raises `DefinitionError`.
    """
    data = data_folder(settings)
    if data is None:
        return None
    from ultracrawl.sources import require  # noqa: PLC0415 - as above
    from ultracrawl.sources.loading.settings_loader import (  # noqa: PLC0415 - slow, and seldom needed
        SETTINGS,
        load_settings,
    )

    written = {name: settings.get(name) for name in SETTINGS}
    project = require(load_settings(written, "spider", (), data))
    (alike,) = project.sources.values()
    names = sorted(folder.name for folder in project.cache.path.glob("*") if folder.is_dir())
    sources = {name: alike.model_copy(update={"name": name}) for name in names}
    return project.model_copy(update={"sources": sources})


def found_definitions(config: str | None = None) -> tuple[str | None, str]:
    """Return where the definitions and the data are: as told, as in the Scrapy project here, or as found here."""
    place = scrapy_place()
    named = config or os.environ.get("ULTRACRAWL_CONFIG") or place.definitions
    return locate_definitions(named), os.environ.get(ENVIRONMENT) or place.data
