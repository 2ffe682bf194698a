"""`ultracrawl lint`: reports all mistakes in definition files at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

import click

from ultracrawl.cli.look.local_checks import check_locally, check_project_locally, check_shown
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import FormatsCommand, config_option, json_option, print_json
from ultracrawl.cli.terminal import escape_controls, wrapped
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.model.finding import FindingCode
from ultracrawl.run import filters
from ultracrawl.run.listing.setup import check_listed
from ultracrawl.run.source_data.left_over import left_over_sources
from ultracrawl.service.access.reader_names import readers_of_nobody
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.settings.adhoc import with_adhoc_sources
from ultracrawl.settings.locations import with_data_folder, with_location
from ultracrawl.settings.projects import NoDefinitionError, locate_project, misnamed_file
from ultracrawl.sources import DefinitionHead, Loaded, PathFinding, Project, compile_source
from ultracrawl.sources.checking.access_checks import check_user_names, check_variables
from ultracrawl.sources.dialects import is_yaml, read_definitions
from ultracrawl.sources.golden_queries import golden_findings
from ultracrawl.system.nouns import counted

MAX_HOSTS = 20
"""Hosts with private addresses that are listed for a source."""


@click.command("lint", cls=FormatsCommand)
@click.argument("files", nargs=-1)
@config_option
@click.option("--strict", is_flag=True, help="Hints count as mistakes, if an option causes them.")
@click.option(
    "--connect",
    is_flag=True,
    help="Also connect to sources that are not web sites: databases, folders, agents.",
)
@json_option
def command(files: tuple[str, ...], config: str | None, strict: bool, connect: bool, as_json: bool) -> None:
    """Check definition FILES (default: the one that `crawl` would take) and report every mistake at once.

    `-c FILE` is the same as naming the file. Classes that sources name are loaded; the extras that they need, and the
    browser, have to be installed here.

    Each line says: file:line - key - what is wrong; what to write instead. Exit code 2 if a mistake would keep a crawl
    from starting, with --strict also if there is a hint. Hints about this machine do not count: a variable of a secret
    that is not set here, an extra that is missing, data of former sources; nor does the advice on `file:` URLs.

    \b
    Example:
      ultracrawl lint ultracrawl.yaml sources/*.yaml
      ultracrawl lint --connect
    """  # noqa: D301 - click's mark for a block that keeps its lines
    default, data = locate_project(config)
    named = dict.fromkeys((*files, config) if config else files)
    locations = tuple(named) or ((default,) if default else ())
    if not locations:
        if misnamed := misnamed_file():
            raise NoDefinitionError(None, misnamed)
        raise Mistake.NO_DEFINITION.error()
    loaded = [read_definitions(location) for location in locations]
    findings = [
        finding
        for location, result in zip(locations, loaded, strict=True)
        for finding in (
            *result.findings,
            *_of_filters(location, result),
            *_beside_options(location, result, connect=connect),
        )
    ]
    for location, result in zip(locations, loaded, strict=True):
        if result.project:
            located = with_location(with_data_folder(result.project, data), location)
            findings += (*left_over(located), *_readers_of_nobody(located, result))
    order = {name: number for number, name in enumerate(dict.fromkeys(finding.file for finding in findings))}
    for finding in sorted(findings, key=lambda finding: (order[finding.file], finding.line)):
        if as_json:
            print_json(finding.as_json())
        else:
            _print(finding)
    fatal = sum(finding.fatal for finding in findings)
    if not as_json:
        _print_intranets(loaded)
        _print_counts(loaded, fatal, len(findings) - fatal)
    counts = fatal or (strict and any(one.code is not FindingCode.UNCOUNTED for one in findings))
    raise SystemExit(2 if counts else 0)


def _print_intranets(loaded: Iterable[Loaded]) -> None:
    """Print the hosts of which each source may reach private addresses."""
    for project in (result.project for result in loaded):
        for source in project.sources.values() if project is not None else ():
            if not source.boundary.intranet_hosts:
                continue
            if named := list(compile_source(source, project).addresses.intranet):
                more = f" and {len(named) - MAX_HOSTS} more" if len(named) > MAX_HOSTS else ""
                hosts = ", ".join(named[:MAX_HOSTS])
                line = f"{source.name}: {hosts}{more} may have private addresses (`boundary.intranet_hosts`)"
                click.echo(escape_controls(line), err=True)


def _print_counts(loaded: Iterable[Loaded], mistakes: int, hints: int) -> None:
    """Print how much was found, and on a terminal what to type next; mistakes can hide the sources of a file."""
    projects = (result.project or result.partial_project for result in loaded)
    sources = sum(len(project.known_sources) for project in projects if project)
    counts = [(sources, "source")] * bool(sources or not mistakes) + [(mistakes, "mistake"), (hints, "hint")]
    click.echo(", ".join(counted(n, noun) for n, noun in counts), err=True)
    if not mistakes and sys.stderr.isatty():
        click.echo("Next: `ultracrawl crawl`; `ultracrawl plan` shows before what it would change", err=True)


def _print(finding: Finding) -> None:
    """Print a finding; on a terminal with its place in colour, wrapped to the width."""
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    line = wrapped(escape_controls(str(finding)), "    ", first="")
    color = "red" if finding.fatal else "yellow"
    click.echo(click.style(place, fg=color) + line[len(place) :] if line.startswith(place) else line)


def _beside_options(location: str, loaded: Loaded, *, connect: bool) -> Iterator[Finding]:
    """Yield what is wrong with what definitions name outside of them, and what they lack on this machine."""
    project = loaded.project or loaded.partial_project
    if project is None:
        return
    for option, problem, instead in check_project_locally(project):
        yield Finding(location, 0, option, problem, instead)
    shared = {name: getattr(project, name) for name in DefinitionHead.model_fields}
    for hint in (
        *check_user_names(project.sign_in, project.known_sources.values()),
        *check_variables(shared),
    ):
        key = ".".join(map(str, hint.path))
        yield Finding(location, 0, key, hint.problem, hint.instead, hint.fatal, hint.code)
    yield from golden_findings(project.search_page.check_answers)
    for source in project.known_sources.values():
        # Files of other formats have no option for it.
        shown = check_shown(source) if is_yaml(location) else ()
        for found in (*check_locally(project, source), *shown):
            yield loaded.finding(source.name, found)
    for name, found in check_listed(project, connect=connect):
        yield loaded.finding(name, found)


def _readers_of_nobody(project: Project, loaded: Loaded) -> Iterator[Finding]:
    """Yield a hint for each bare name of `acl` that users and tokens have with a type only, which is another name."""
    users, tokens = UserStore.of_project(project), TokenStore.of_project(project)
    with suppress(WorkError):  # whoever checks a definition need not be the one who runs the service
        for source, reader, principal in readers_of_nobody(project, users, tokens):
            problem = f"no user and no token has the principal {reader}; {principal} is another name"
            instead = f"write {principal}, or give {reader} to those who are meant"
            hint = PathFinding(("acl",), problem, instead, False, FindingCode.UNCOUNTED)
            yield loaded.finding(source, hint)


def left_over(project: Project) -> Iterator[Finding]:
    """Yield a hint for each source that has stored data and that no file defines."""
    for source in left_over_sources(with_adhoc_sources(project)):
        key, place = f"sources.{source.source}", project.definitions or str(project.base)
        yield Finding(place, 0, key, source.problem, f"write {source.instead}", False, FindingCode.UNCOUNTED)


def _of_filters(location: str, loaded: Loaded) -> Iterator[Finding]:
    """Yield the mistakes in the filter files of the sources."""
    for source in loaded.project.sources.values() if loaded.project else ():
        if source.filters.file is None:
            continue
        try:
            filters.Filtering(source.filters, time.time)
        except DefinitionError as error:
            yield from error.findings
        except UserError as error:
            yield Finding(location, 0, f"sources.{source.name}.filters", str(error), "correct its path")
