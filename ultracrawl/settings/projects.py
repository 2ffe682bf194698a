"""From what somebody names, or nothing, to the project that is meant."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.model import Finding
from ultracrawl.settings.adhoc import remembered
from ultracrawl.settings.places import placed, scrapy_place
from ultracrawl.sources import Project, usable
from ultracrawl.sources.dialects import locate_definitions, read_definitions


def find_project(config: str | None = None) -> tuple[Project, Iterable[Finding]]:
    """Read the project that `config`, the environment, the Scrapy project or the working directory names.

    Without any file, what `crawl --url` left in ./var/ is the project. Sources with mistakes are set apart in it; what
    else was found in the file comes beside it. Raises `UserError`.
    """
    location, data = found_definitions(config)
    if location is not None:
        loaded = read_definitions(location)
        return placed(usable(loaded), data), [finding for finding in loaded.findings if not finding.fatal]
    adhoc = remembered(Path.cwd())
    if adhoc is None:
        raise UserError(
            "there is no definition file: write ultracrawl.yaml here (`ultracrawl init DIR` makes a project), name one "
            "with -c, or crawl without any by `ultracrawl crawl --url URL`"
        )
    return adhoc, ()


def found_definitions(config: str | None = None) -> tuple[str | None, str]:
    """Return where the definitions and the data are: as told, as in the Scrapy project here, or as found here."""
    place = scrapy_place()
    named = config or os.environ.get("ULTRACRAWL_CONFIG") or place.definitions
    return locate_definitions(named), os.environ.get("ULTRACRAWL_DATA") or place.data
