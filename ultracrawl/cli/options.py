"""Options that several verbs share, and how a verb finds its project."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from ultracrawl.cli.adhoc import remembered
from ultracrawl.cli.terminal import tell
from ultracrawl.errors import UserError
from ultracrawl.model import Finding
from ultracrawl.settings.places import placed, scrapy_place
from ultracrawl.sources import Catalog, DataSource, Project, usable
from ultracrawl.sources.dialects import locate_definitions, read_definitions

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


def project_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c/--config`; the verb gets the project that it names, as `project`."""

    @wraps(function)
    def with_project(*, config: str | None = None, **others: Any) -> None:
        function(project=open_project(config), **others)

    return config_option(with_project)


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, and nothing else, to standard output."
    )(function)


def open_project(config: str | None) -> Project:
    """Read the project that `-c`, the environment, the Scrapy project or the working directory names.

    Without any file, what `crawl --url` left in ./var/ is the project. Sources with mistakes are set apart in it, and
    do not keep a verb from the others. Raises `UserError`.
    """
    location, data = found_definitions(config)
    if location is not None:
        loaded = read_definitions(location)
        project = placed(usable(loaded), data)
        show_hints(finding for finding in loaded.findings if not finding.fatal)
        return project
    adhoc = remembered(Path.cwd())
    if adhoc is None:
        raise UserError(
            "there is no definition file: write ultracrawl.yaml here (`ultracrawl init DIR` makes a project), name one "
            "with -c, or crawl without any by `ultracrawl crawl --url URL`"
        )
    return adhoc


def found_definitions(config: str | None = None) -> tuple[str | None, str]:
    """Return where the definitions and the data are: as told, as in the Scrapy project here, or as found here."""
    place = scrapy_place()
    named = config or os.environ.get("ULTRACRAWL_CONFIG") or place.definitions
    return locate_definitions(named), os.environ.get("ULTRACRAWL_DATA") or place.data


def chosen_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all; those with mistakes in their definitions are told of, and left out.

    Raises `UserError` for a name that does not exist, and if there is none without mistakes.
    """
    wanted = tuple(names)
    found = Catalog(project).chosen(wanted)
    for name, source in project.mistaken.items() if not wanted else ():
        tell(f"{name}: left out: {first_of(source.findings)}", err=True)
    return found


def known_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all, to look at what they hold. Raises `UserError` for an unknown name."""
    return Catalog(project).known(names)


def show_findings(findings: Iterable[Finding]) -> None:
    """Print findings to standard error, one a line."""
    for finding in findings:
        click.echo(str(finding), err=True)


def first_of(findings: Sequence[object]) -> str:
    """Return the first of some findings, and how many more there are, in a line."""
    left = len(findings) - 1
    return f"{findings[0]}" + (f" (and {left} more; `ultracrawl lint` shows them)" if left else "")


def show_hints(findings: Iterable[Finding]) -> None:
    """Print the first hints to standard error, one a line; `ultracrawl lint` shows all of them."""
    hints = list(findings)
    show_findings(hints[:MOST_HINTS])
    left = len(hints) - MOST_HINTS
    if left > 0:
        click.echo(
            f"... and {left} more hint{'s' if left > 1 else ''}; `ultracrawl lint` shows them", err=True
        )


class Shown(Protocol):
    """What can be printed as JSON."""

    def as_json(self) -> object:
        """Return it as JSON values."""


S = TypeVar("S", bound=Shown)


def print_all(key: str, found: Iterable[S], in_words: Callable[[S], object], *, as_json: bool) -> None:
    """Print one JSON object with a list under `key`, or each member of it for people."""
    if as_json:
        print_json({key: [one.as_json() for one in found]})
        return
    for one in found:
        in_words(one)


def print_json(value: object) -> None:
    """Print one JSON value on one line of standard output."""
    tell(json.dumps(value, ensure_ascii=False, default=str))
