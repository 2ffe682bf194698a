"""The folder of a project's data if its definitions cannot name it: in a package, or on another machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ultracrawl.sources import Project

ENVIRONMENT = "ULTRACRAWL_DATA"
"""The environment variable, and the Scrapy setting, with the folder that relative paths are taken from."""
ADHOC_FILE = Path("var", "adhoc.yaml")
"""The file in which `crawl --url` remembers its sources, seen from the working directory."""
_MODULE = "SCRAPY_SETTINGS_MODULE"


def placed(project: Project, folder: str | Path | None = None) -> Project:
    """Return the project with its data below `folder`, else below `$ULTRACRAWL_DATA`, else as it is.

    Only the paths of indexes, state, cache, documents and logs that are relative in the definitions move.
    """
    named = folder or os.environ.get(ENVIRONMENT)
    if not named:
        return project
    base = Path(named).expanduser().absolute()
    return project.model_copy(update={**project.resolved_storage(base, project.base), "base": base})


def data_folder(settings: BaseSettings | Mapping[str, Any]) -> Path | None:
    """Return the folder that the setting `ULTRACRAWL_DATA` names, or else the variable; None without it."""
    named = settings.get(ENVIRONMENT) or os.environ.get(ENVIRONMENT)
    return Path(named).expanduser().absolute() if named else None


class Place(NamedTuple):
    """What a Scrapy project says of its definitions and data; empty texts where it says nothing."""

    definitions: str = ""
    data: str = ""


def scrapy_settings() -> BaseSettings | None:
    """Return the settings of the Scrapy project around the working directory, as `scrapy` commands would read them.

    Its folder becomes importable, as it does for them. Without a project there are none, and Scrapy is not imported.
    """
    here = Path.cwd()
    inside = any((folder / "scrapy.cfg").is_file() for folder in (here, *here.parents))
    named = _MODULE in os.environ
    if not inside and not named:
        return None
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415 - slow, and seldom needed

    try:
        return get_project_settings()
    finally:
        if not named:
            # Scrapy leaves a note of the project; in a program that goes on elsewhere it would be the wrong one.
            os.environ.pop(_MODULE, None)


def scrapy_place() -> Place:
    """Return what the Scrapy project around the working directory says; empty texts without one."""
    settings = scrapy_settings()
    if settings is None:
        return Place()
    return Place(settings.get("ULTRACRAWL_CONFIG") or "", settings.get(ENVIRONMENT) or "")
