"""Options and helpers that several verbs share."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click
from click.shell_completion import CompletionItem

from ultracrawl import sources, stores
from ultracrawl.cli.audit import note_project
from ultracrawl.cli.groups import REMOTE_VERBS
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import UltracrawlError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.settings.projects import find_project, find_state_project
from ultracrawl.sources.dialects import format_titles
from ultracrawl.system.nouns import counted

if TYPE_CHECKING:
    from ultracrawl.sources import DataSource, Project

F = TypeVar("F", bound=Callable[..., Any])
MAX_HINTS = 3
"""Number of hints about the definition that verbs other than `lint` print."""


class _SourceName(click.ParamType[str]):
    """The name of a source, which shells complete."""

    name = "source"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is; the verb looks the source up."""
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names of sources that begin so; none if the definition cannot be read."""
        with suppress(UltracrawlError):
            project, _ = find_project(ctx.params.get("config"))
            return [CompletionItem(name) for name in project.known_sources if name.startswith(incomplete)]
        return []


SOURCE_NAME = _SourceName()
"""The type of arguments that name sources."""


class Seconds(click.FloatRange):
    """A length of time; neither `inf` nor `nan`, which Python takes for numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises `BadParameter`."""
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no length of time", param, ctx)
        return seconds


class FormatsCommand(click.Command):
    """A command whose help ends with the formats of definition files, those of plug-ins among them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the formats below the options."""
        with formatter.section("Formats"):
            formatter.write_text(", ".join(format_titles()))


def config_option(function: F) -> F:
    """Add `-c/--config`."""
    return click.option(
        "-c",
        "--config",
        type=click.Path(),
        metavar="FILE",
        help="The definition file. Default: $ULTRACRAWL_CONFIG, the setting of that name, ./ultracrawl.yaml.",
    )(function)


def project_option(
    function: Callable[..., None], opened: Callable[[str | None], Project] | None = None
) -> Callable[..., None]:
    """Add `-c/--config`; the verb gets the project, `opened` by `open_project` or otherwise, as `project`."""

    @wraps(function)
    def with_project(*, config: str | None = None, **others: Any) -> None:
        function(project=(opened or open_project)(config), **others)

    return config_option(with_project)


def searchable_project_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c/--config`; the project may be one of spiders without a definition, which has only an index."""
    return project_option(function, partial(open_project, plain=True))


def readable_project_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c/--config`; the project has what its state has, whatever mistakes the definitions have."""
    return project_option(function, open_readable_project)


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, and nothing else, to standard output."
    )(function)


def numbers_option(function: F) -> F:
    """Add `-v/--verbose` to a verb that prints outcomes."""
    return click.option(
        "-v", "--verbose", is_flag=True, help="Also print the crawler's own numbers of states and messages."
    )(function)


def jobs_option(function: F) -> F:
    """Add `--jobs`."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, 1000),
        envvar="ULTRACRAWL_JOBS",
        metavar="N",
        help="Crawl N sources at a time, besides those that only wait, each in a process of its own. "
        "Default: free memory / 100 MB, from 8 to 64.",
    )(function)


def confirm(question: str, *, yes: bool) -> None:
    """Ask a question unless it was answered by `--yes`. Raises `UserError` if nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Mistake.NOBODY_TO_ASK.error(question=question)
    click.confirm(question, abort=True)


def open_project(config: str | None, *, plain: bool = False) -> Project:
    """Return the project (see `find_project`), and print hints about its definition. Raises `UserError`."""
    project, hints = find_project(config, plain=plain)
    note_project(project)
    show_hints(hints)
    return project


def open_state_project(config: str | None) -> Project:
    """Return the project for an order, with all sources that its state has (see `find_state_project`).

    Raises `UserError`.
    """
    project = stores.with_stored_sources(find_state_project(config))
    note_project(project)
    return project


def open_readable_project(config: str | None) -> Project:
    """Return the project as `open_project` does, with the sources of its state that mistakes in definitions hide.

    Raises `UserError` if there is none.
    """
    try:
        return stores.with_stored_sources(open_project(config))
    except DefinitionError:
        project = open_state_project(config)
        if not project.known_sources:
            raise
        return project


def chosen_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all; sources with mistakes in their definitions are reported and left out.

    Raises `UserError` for an unknown name, and if no source is without mistakes.
    """
    wanted = tuple(names)
    found = sources.Catalog(project).select(wanted)
    for name, source in project.invalid_sources.items() if not wanted else ():
        print_line(f"{name}: left out: {first_and_count(source.findings)}", err=True)
    return found


def known_sources(project: Project, names: Iterable[str]) -> list[DataSource]:
    """Return the named sources, or all, with or without mistakes. Raises `UserError` for an unknown name."""
    return sources.Catalog(project).select_known(names)


def steering_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `-c/--config`; the verb gets the `project` and the names `sources`, whatever mistakes the definitions have.

    Orders need only the state: a source may be named that has one, or that a service crawls, without a definition.
    """

    @wraps(function)
    def with_state(*, sources: Sequence[str], config: str | None = None, **others: Any) -> None:
        from ultracrawl.service.schedules.steering import is_steerable  # noqa: PLC0415 - only orders need it

        project = open_state_project(config)
        if not all(name in project.known_sources or is_steerable(project, name) for name in sources):
            project = open_project(config)
            known_sources(project, sources)
        function(project=project, sources=tuple(dict.fromkeys(sources)), **others)

    return config_option(with_state)


def show_findings(findings: Iterable[Finding]) -> None:
    """Print findings to standard error, one a line."""
    for finding in findings:
        click.echo(str(finding), err=True)


def first_and_count(findings: Sequence[object]) -> str:
    """Return a line with the first of some findings, and the number of the others."""
    left = len(findings) - 1
    return f"{findings[0]}" + (f" (and {left} more; `ultracrawl lint` shows them)" if left else "")


def show_hints(findings: Iterable[Finding]) -> None:
    """Print the first hints to standard error, one a line; `ultracrawl lint` shows all of them."""
    hints = list(findings)
    show_findings(hints[:MAX_HINTS])
    more = len(hints) - MAX_HINTS
    if more > 0:
        click.echo(f"... and {counted(more, 'more hint')}; `ultracrawl lint` shows them", err=True)


class JsonPrintable(Protocol):
    """An object that can be printed as JSON."""

    def as_json(self) -> object:
        """Return the JSON value."""


S = TypeVar("S", bound=JsonPrintable)


def print_all(key: str, items: Iterable[S], print_text: Callable[[S], object], *, as_json: bool) -> None:
    """Print one JSON object with a list of items under `key`, or each item as text."""
    if as_json:
        print_json({key: [item.as_json() for item in items]})
        return
    for item in items:
        print_text(item)


def print_json(value: object) -> None:
    """Print one JSON value on one line of standard output."""
    print_line(json.dumps(value, ensure_ascii=False, default=str))


def server_option(verb: str) -> Callable[[F], F]:
    """Add `--server`: with it the function `verb` of `cli.serve.remote` sends the command to a service."""

    def add_option(function: F) -> F:
        @wraps(function)
        def local_or_remote(*, server: str, **options: Any) -> None:
            if not server:
                function(**options)
                return
            remote = click.get_current_context().meta[REMOTE_VERBS]()
            getattr(remote, verb)(remote.client_for(server, options), **options)

        return click.option(  # type: ignore[return-value]  # a function is wrapped, whatever its type
            "--server",
            metavar="URL",
            default="",
            help="Use this `ultracrawl serve`, with the token in $ULTRACRAWL_TOKEN or the file $ULTRACRAWL_TOKEN_FILE.",
        )(local_or_remote)

    return add_option
