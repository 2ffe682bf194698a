"""Options that several verbs share, and how a verb finds its project."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from ultracrawl.cli.adhoc import remembered
from ultracrawl.cli.terminal import tell
from ultracrawl.dialects import locate_definitions, read_definitions
from ultracrawl.errors import UserError
from ultracrawl.model import Finding
from ultracrawl.settings.places import placed, scrapy_place
from ultracrawl.sources import DataSource, Project, require

F = TypeVar("F", bound=Callable[..., Any])
MOST_HINTS = 3
"""Hints that are shown by verbs whose subject they are not."""


def config_option(function: F) -> F:
    """Add `-c/--config`."""
    return click.option(
        "-c",
        "--config",
        metavar="FILE",
        help="The definition file. Default: $ULTRACRAWL_CONFIG, the setting of that name, ./ultracrawl.yaml.",
    )(function)


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, and nothing else, to standard output."
    )(function)


def open_project(config: str | None) -> Project:
    """Read the project that `-c`, the environment, the Scrapy project or the working directory names.

    Without any file, what `crawl --url` left in ./var/ is the project. Raises `UserError`.
    """
    location, data = found_definitions(config)
    if location is not None:
        loaded = read_definitions(location)
        show_hints(loaded.findings)
        return placed(require(loaded), data)
    project = remembered(Path.cwd())
    if project is None:
        raise UserError(
            "there is no definition file: write ultracrawl.yaml here (`ultracrawl init DIR` makes a project), name one "
            "with -c, or crawl without any by `ultracrawl crawl --url URL`"
        )
    return project


def found_definitions(config: str | None = None) -> tuple[str | None, str]:
    """Return where the definitions and the data are: as told, as in the Scrapy project here, or as found here."""
    place = scrapy_place()
    named = config or os.environ.get("ULTRACRAWL_CONFIG") or place.definitions
    return locate_definitions(named), os.environ.get("ULTRACRAWL_DATA") or place.data


def chosen_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all. Raises `UserError` for a name that does not exist."""
    wanted = list(names)
    unknown = [name for name in wanted if name not in project.sources]
    if unknown:
        known = ", ".join(sorted(project.sources)) or "none"
        raise UserError(f"no source is named {', '.join(map(repr, unknown))}; the sources are: {known}")
    return [project.sources[name] for name in dict.fromkeys(wanted)] or list(project.sources.values())


def show_findings(findings: Iterable[Finding]) -> None:
    """Print findings to standard error, one a line."""
    for finding in findings:
        click.echo(str(finding), err=True)


def show_hints(findings: Iterable[Finding]) -> None:
    """Print the first hints to standard error, one a line; `ultracrawl lint` shows all of them."""
    hints = [finding for finding in findings if not finding.fatal]
    show_findings(hints[:MOST_HINTS])
    left = len(hints) - MOST_HINTS
    if left > 0:
        click.echo(
            f"... and {left} more hint{'s' if left > 1 else ''}; `ultracrawl lint` shows them", err=True
        )


def print_json(value: object) -> None:
    """Print one JSON value on one line of standard output."""
    tell(json.dumps(value, ensure_ascii=False, default=str))
