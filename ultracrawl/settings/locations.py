"""Locations of definitions and data outside the definition file: environment variables and Scrapy settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ultracrawl.sources.reading.locations import PROJECT_FILE

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.sources import Project

ENVIRONMENT = "ULTRACRAWL_DATA"
"""The environment variable, and the Scrapy setting, with the base folder of relative data paths."""
ADHOC_FILE = Path("var", "adhoc.yaml")
"""The definition file of sources created by `crawl --url`, relative to the working directory."""
_MODULE = "SCRAPY_SETTINGS_MODULE"


def with_location(project: Project, location: str | Path) -> Project:
    """Return the project with the path of the file or folder that it was read from; unchanged for a package."""
    path = Path(location).absolute()
    main = path / PROJECT_FILE if (path / PROJECT_FILE).is_file() else path
    return project.model_copy(update={"definitions": str(main)}) if main.exists() else project


def with_data_folder(project: Project, folder: str | Path | None = None) -> Project:
    """Return the project with its data below `folder`, else below `$ULTRACRAWL_DATA`, else unchanged.

    Only relative paths of indexes, state, cache, documents and logs change; absolute paths stay.
    """
    path = folder or os.environ.get(ENVIRONMENT)
    if not path:
        return project
    base = Path(path).expanduser().absolute()
    return project.model_copy(update={**project.resolved_storage(base, project.base), "base": base})


def data_folder(settings: BaseSettings | Mapping[str, Any]) -> Path | None:
    """Return the data folder of the setting or else the environment variable `ULTRACRAWL_DATA`, or None."""
    path = settings.get(ENVIRONMENT) or os.environ.get(ENVIRONMENT)
    return Path(path).expanduser().absolute() if path else None


class ProjectLocations(NamedTuple):
    """Locations of definitions and data in the settings of a Scrapy project, empty if not set."""

    definitions: str = ""
    data: str = ""


def scrapy_settings() -> BaseSettings | None:
    """Return the settings of the Scrapy project of the working directory, as `scrapy` commands read them, or None.

    The project folder becomes importable. Without a project Scrapy is not imported.
    """
    here = Path.cwd()
    inside = any((folder / "scrapy.cfg").is_file() for folder in (here, *here.parents))
    is_named = _MODULE in os.environ
    if not inside and not is_named:
        return None
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415 - slow, and seldom needed

    try:
        return get_project_settings()
    finally:
        if not is_named:
            # Scrapy sets the variable; a program that later changes its working directory would get the wrong project.
            os.environ.pop(_MODULE, None)


def scrapy_locations() -> ProjectLocations:
    """Return the locations in the Scrapy project of the working directory; empty ones without a project."""
    settings = scrapy_settings()
    if settings is None:
        return ProjectLocations()
    return ProjectLocations(settings.get("ULTRACRAWL_CONFIG") or "", settings.get(ENVIRONMENT) or "")
