"""Options that several verbs share, and how a verb finds its project."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from ultracrawl.cli.terminal import tell
from ultracrawl.model import Finding
from ultracrawl.settings.projects import find_project

if TYPE_CHECKING:
    from ultracrawl.sources import DataSource, Project

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


def project_option(function: Callable[..., None], *, plain: bool = False) -> Callable[..., None]:
    """Add `-c/--config`; the verb gets the project that it names, as `project`."""

    @wraps(function)
    def with_project(*, config: str | None = None, **others: Any) -> None:
        function(project=open_project(config, plain=plain), **others)

    return config_option(with_project)


def searchable_project_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c/--config`; the project may be one of spiders without a definition, which has an index and no more."""
    return project_option(function, plain=True)


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, and nothing else, to standard output."
    )(function)


def jobs_option(function: F) -> F:
    """Add `--jobs`."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, 1000),
        envvar="ULTRACRAWL_JOBS",
        metavar="N",
        help="Crawl N sources at a time, each in a process of its own. Default: one a core.",
    )(function)


def open_project(config: str | None, *, plain: bool = False) -> Project:
    """Read the project that `-c`, the environment, the Scrapy project or the working directory names.

    Without any file, what `crawl --url` left in ./var/ is the project. Sources with mistakes are set apart in it, and
    do not keep a verb from the others. With `plain`, settings of spiders without a definition make a project, too.
    Raises `UserError`.
    """
    project, hints = find_project(config, plain=plain)
    show_hints(hints)
    return project


def chosen_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all; those with mistakes in their definitions are told of, and left out.

    Raises `UserError` for a name that does not exist, and if there is none without mistakes.
    """
    wanted = tuple(names)
    from ultracrawl.sources import Catalog  # noqa: PLC0415 - not every verb reads definitions

    found = Catalog(project).select(wanted)
    for name, source in project.invalid_sources.items() if not wanted else ():
        tell(f"{name}: left out: {first_of(source.findings)}", err=True)
    return found


def known_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all, to look at what they hold. Raises `UserError` for an unknown name."""
    from ultracrawl.sources import Catalog  # noqa: PLC0415 - as above

    return Catalog(project).select_known(names)


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


def server_option(verb: str) -> Callable[[F], F]:
    """Add `--server`: with it a verb asks a service, by the function of this name in `cli.serve.remote`."""

    def add_option(function: F) -> F:
        @wraps(function)
        def here_or_there(*, server: str, **options: Any) -> None:
            if not server:
                function(**options)
                return
            remote = importlib.import_module("ultracrawl.cli.serve.remote")  # most commands ask no service
            getattr(remote, verb)(remote.client_for(server, options), **options)

        return click.option(  # type: ignore[return-value]  # a function is wrapped, whatever its type
            "--server",
            metavar="URL",
            default="",
            help="Ask this `ultracrawl serve`, with the token in $ULTRACRAWL_TOKEN or the file $ULTRACRAWL_TOKEN_FILE.",
        )(here_or_there)

    return add_option
