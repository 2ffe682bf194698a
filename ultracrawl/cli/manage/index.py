"""`ultracrawl index`: inspects, checks, optimises, rebuilds and dumps the index."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from typing import Any, TypeVar

import click

from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.options import json_option, print_json, searchable_project_option
from ultracrawl.cli.terminal import waiting_for
from ultracrawl.errors import IndexStoreError
from ultracrawl.index import IndexEngine, IndexFacts
from ultracrawl.index.engine import ServerFacts
from ultracrawl.index.engines import is_new
from ultracrawl.index.project_index import (
    index_config,
    indexes_on_servers,
    open_index,
    searchable_project,
)
from ultracrawl.index.searchable_project import PERSON_SECONDS
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.index.values import attributes_to_json, extras_to_json
from ultracrawl.rules.access.readers import named_readers
from ultracrawl.service import repair
from ultracrawl.service.repair import Repair
from ultracrawl.sources import Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.system.compiled_core import CoreState, core_state
from ultracrawl.system.nouns import counted

NO_INDEX = "there is no index yet"
F = TypeVar("F", bound=Callable[..., Any])


def index_option(function: F) -> F:
    """Add `--index`."""
    return click.option(
        "--index",
        "name",
        metavar="NAME",
        default=PROJECT_INDEX,
        help="One of `indexes`; without it the index of the project.",
    )(function)


@click.group("index", cls=VerbGroup)
def command() -> None:
    """Inspect, check, optimise or rebuild the full-text index.

    \b
    Examples:
      ultracrawl index info
      ultracrawl index check || ultracrawl index rebuild
      ultracrawl index info --index archive

    While a crawl writes, `optimise` and `rebuild` wait for it, up to a minute; then they say that the index is
    locked and change nothing.
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("info", short_help="Show the number of documents, and the size.")
@index_option
@searchable_project_option
@json_option
def info(name: str, project: Project, as_json: bool) -> None:
    """Show how many documents the index holds, of which sources, and the room it takes.

    \b
    Example:
      ultracrawl index info --json
    """  # noqa: D301 - as above
    facts = _facts(project, name)
    if as_json:
        print_json(facts.as_json())
        return
    click.echo(
        f"{counted(facts.documents, 'document')} in {counted(facts.segments, 'segment')}, {facts.size / 1e6:,.1f} MB "
        f"({facts.engine}, schema version {facts.schema})"
    )
    if facts.server is not None:
        _print_server(project, name, facts.server)
    if (state := core_state()) is not CoreState.USED:
        click.echo(
            f"  written without the compiled core ({state}): slower, and equal (docs/compiled-core.md)"
        )
    if facts.schema not in (0, SCHEMA_VERSION):
        remedy = f"a crawl, or {_verb('rebuild', name)}, upgrades it to"
        click.echo(f"  of another version: {remedy} schema version {SCHEMA_VERSION}")
    elif facts.server is not None and not facts.server.current:
        click.echo(f"  its mapping is of another version: a crawl, or {_verb('rebuild', name)}, upgrades it")
    if facts.deleted:
        click.echo(f"  {facts.deleted:>9,}  deleted; {_verb('optimise', name)} frees their space")
    if facts.reclaimed:
        click.echo(f"  {facts.reclaimed:>9,}  times such space was freed automatically")
    _print_sources(project, facts.sources)


@command.command("check", short_help="Read the whole index, and report errors.")
@index_option
@searchable_project_option
@json_option
def check(name: str, project: Project, as_json: bool) -> None:
    """Read the whole index; exit code 1 if something is wrong, which `rebuild` then repairs, or if there is no index.

    The texts of links that documents have are compared with those of the pages.

    \b
    Example:
      ultracrawl index check
    """  # noqa: D301 - as above
    _require_server(project, name)
    if is_new(index_config(project, name)):
        if as_json:
            print_json({"sound": False, "wrong": [NO_INDEX]})
        raise IndexStoreError(f"{NO_INDEX}; `ultracrawl crawl` makes it")
    with closing(open_index(project, name)) as index:
        problems = index.check()
    what = "damaged" if problems else "not what pages say"
    if not problems:
        different = repair.documents_with_other_texts(project, name)
        problems = [
            f"{source}: the texts of links to {counted(len(keys), 'document')} are not those of the pages"
            for source, keys in sorted(different.items())
        ]
    if as_json:
        print_json({"sound": not problems, "wrong": problems})
    else:
        for line in problems or ["Sound."]:
            click.echo(line)
    if problems:
        remedy = f"{_verb('rebuild', name)} repairs"
        if name in indexes_on_servers(project):
            raise IndexStoreError(
                f"the index is not sound; {remedy} documents, and what an interrupted rebuild left; a full disk and "
                "lost shards are for who runs the servers"
            )
        raise IndexStoreError(f"the index is {what}; {remedy} it")


@command.command("optimise", short_help="Merge all segments into one, and free space.")
@index_option
@searchable_project_option
@json_option
def optimise(name: str, project: Project, as_json: bool) -> None:
    """Merge all segments into one and free the space of deleted documents.

    If the index is on servers, a line on standard error says every 15 seconds how many segments are left; if you end
    the command, they go on.

    \b
    Example:
      ultracrawl index optimise
    """  # noqa: D301 - as above
    before, started = _facts(project, name), time.monotonic()
    with closing(open_index(project, name)) as index, _shown_progress():
        index.optimise()
    _print_result(
        "optimised", before, _facts(project, name), time.monotonic() - started, Repair(), as_json=as_json
    )


@command.command("rebuild", short_help="Make a new index from the old one, without any request.")
@index_option
@searchable_project_option
@json_option
def rebuild(name: str, project: Project, as_json: bool) -> None:
    """Make a new index from the documents stored in the old one, without any request.

    It repairs a damaged index. Documents that cannot be read in it are made again from stored responses
    (`storage: {keep: true}`); the others are fetched by the next crawl, which also sends the texts of links that the
    index has otherwise than the pages. The index can be searched meanwhile. Documents
    of sources that no file defines any more are kept; `ultracrawl remove SOURCE` removes them.

    \b
    Example:
      ultracrawl index rebuild
    """  # noqa: D301 - as above
    _require_server(project, name)
    before, started = _facts_if_readable(project, name), time.monotonic()
    done = repair.rebuild(project, name)
    after = _facts(project, name)
    _print_result("rebuilt", before, after, time.monotonic() - started, done, as_json=as_json)
    if not as_json:
        _print_sources(project, after.sources, only_left_over=True)


@command.command("dump", short_help="Print every document as one line of JSON.")
@index_option
@searchable_project_option
def dump(name: str, project: Project) -> None:
    """Print every document of the index as one line of JSON; exit code 1 if some cannot be read.

    \b
    Example:
      ultracrawl index dump > documents.jsonl
    """  # noqa: D301 - as above
    _require_server(project, name)
    number = 0
    with closing(open_index(project, name)) as index:
        before = _count_if_readable(index)
        for number, stored in enumerate(index.documents(), 1):  # noqa: B007 - used below
            document = replace(stored, acl=tuple(named_readers(stored.acl)))
            print_json(
                {
                    "source": document.source,
                    "url": document.url,
                    "title": document.title,
                    "text": "" if document.secret_text else document.text,
                    "anchors": list(document.anchors),
                    "attributes": attributes_to_json(document.attributes),
                    **extras_to_json(replace(document, sections=()) if document.secret_text else document),
                }
            )
        lost = min(before, index.count()) - number  # a crawl may write at the same time
    if not (number or lost > 0):
        click.echo("The index has no documents yet. `ultracrawl crawl` fills it.", err=True)
    if lost > 0:
        raise IndexStoreError(
            f"{counted(lost, 'document')} cannot be read; `ultracrawl index rebuild` repairs the index"
        )


def _verb(verb: str, name: str) -> str:
    """Return the command that does something with an index, for messages."""
    return f"`ultracrawl index {verb}{'' if name == PROJECT_INDEX else f' --index {name}'}`"


def _print_server(project: Project, name: str, server: ServerFacts) -> None:
    """Print which servers have the index, and how; and what the definition has instead."""
    place = searchable_project(project).indexes[name]
    where = f"  OpenSearch {server.version} at {place.server}"
    if not server.name:
        click.echo(f"{where} has no such index yet")
        return
    made = server.shards, server.replicas
    click.echo(f"{where}: {server.name}{_copies(*made)}, mapping version {server.mapping}")
    wanted = int(str(place.options["shards"])), int(str(place.options["replicas"]))
    if server.shards and made != wanted:
        click.echo(
            f"  the definition has other numbers{_copies(*wanted)}: {_verb('rebuild', name)} makes them"
        )


def _copies(shards: int, replicas: int) -> str:
    return f", shards: {shards}, replicas: {replicas}" if shards else ""


def _print_sources(project: Project, counts: Mapping[str, int], *, only_left_over: bool = False) -> None:
    """Print the number of documents of each source, and how to remove those that no file defines any more."""
    left_over = searchable_project(project).left_over(counts)
    for source, count in counts.items():
        if source in left_over:
            advice = f"no file defines it, and searches leave it out; `ultracrawl remove {source}`"
            click.echo(f"  {count:>9,}  {source} (left over: {advice})")
        elif not only_left_over:
            click.echo(f"  {count:>9,}  {source}")


class _Progress(logging.Handler):
    """Prints what the engine says about its work."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message of a record (`logging.Handler`)."""
        click.echo(record.getMessage(), err=True)


@contextmanager
def _shown_progress() -> Iterator[None]:
    """Print what the engine says about its work on standard error."""
    engines, handler = logging.getLogger("ultracrawl.index"), _Progress(logging.INFO)
    level, is_passed_on = engines.level, engines.propagate
    engines.addHandler(handler)
    engines.setLevel(logging.INFO)
    engines.propagate = False  # it is printed once
    try:
        yield
    finally:
        engines.removeHandler(handler)
        engines.setLevel(level)
        engines.propagate = is_passed_on


def _count_if_readable(index: IndexEngine) -> int:
    try:
        return index.count()
    except IndexStoreError:
        return 0  # `dump` prints what can be read, then raises the same error


def _facts(project: Project, name: str) -> IndexFacts:
    with _quick_index(project, name) as index:
        return index.facts()


def _require_server(project: Project, name: str) -> None:
    """Raise `IndexStoreError` soon if the index is on servers that do not answer: what follows waits longer."""
    if name in indexes_on_servers(project):
        with _quick_index(project, name) as index:
            index.count()


@contextmanager
def _quick_index(project: Project, name: str) -> Iterator[IndexEngine]:
    """Open an index whose servers have to answer as fast as a person may wait; a terminal says if that takes long."""
    server = searchable_project(project).server_of(name)
    with waiting_for(server), closing(open_index(project, name, patience=PERSON_SECONDS)) as index:
        yield index


def _facts_if_readable(project: Project, name: str) -> IndexFacts | None:
    try:
        return _facts(project, name)
    except IndexStoreError:
        return None  # damaged


def _print_result(
    done: str,
    before: IndexFacts | None,
    after: IndexFacts,
    seconds: float,
    repaired: Repair,
    *,
    as_json: bool,
) -> None:
    """Print the size of the index before and after, and the numbers of unreadable documents."""
    if as_json:
        sizes = {"before": before and before.as_json(), "after": after.as_json()}
        counts = {**asdict(repaired), "fetched_again": repaired.fetched_again}
        print_json({"seconds": round(seconds, 1), **sizes, **counts})
        return
    was = f" (was {before.size / 1e6:,.1f})" if before else ""
    click.echo(
        f"{done.capitalize()} in {seconds:.1f} s: {counted(after.documents, 'document')}, "
        f"{after.size / 1e6:,.1f} MB{was}"
    )
    if repaired.remade:
        click.echo(f"  {repaired.remade:>9,}  could not be read, and were made again from what is stored")
    if repaired.fetched_again:
        click.echo(f"  {repaired.fetched_again:>9,}  could not be read; the next crawl fetches them again")
