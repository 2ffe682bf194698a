"""Where the data of a project lie when its definitions cannot say it: in a package, or on another machine."""

from __future__ import annotations

import os
from pathlib import Path

from ultracrawl.sources import Project

ENVIRONMENT = "ULTRACRAWL_DATA"
"""The environment variable, and the Scrapy setting, with the folder that relative paths are taken from."""


def placed(project: Project, folder: str | Path | None = None) -> Project:
    """Return the project with its data below `folder`, else below `$ULTRACRAWL_DATA`, else as it is.

    Only the paths of index, state and cache that are relative in the definitions move.
    """
    named = folder or os.environ.get(ENVIRONMENT)
    if not named:
        return project
    base = Path(named).expanduser().absolute()
    moved = {
        name: section.model_copy(update={"path": base / section.path.relative_to(project.base)})
        for name, section in (("index", project.index), ("state", project.state), ("cache", project.cache))
        if section.path.is_relative_to(project.base)
    }
    return project.model_copy(update={**moved, "base": base})
