"""`ultracrawl remove` and `ultracrawl rename`: all that is stored of a source, under its name."""

from __future__ import annotations

from contextlib import closing, suppress
from itertools import chain

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, confirm, json_option, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import UltracrawlError
from ultracrawl.index.project_index import open_index
from ultracrawl.run.source_data.places import require_idle
from ultracrawl.run.source_data.removing import RemovedSource, remove_source
from ultracrawl.run.source_data.renaming import rename_source, unfinished_renames
from ultracrawl.settings.adhoc import is_adhoc
from ultracrawl.sources import Project
from ultracrawl.sources.definition import to_source_name
from ultracrawl.sources.mistakes import closest_match
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores.project_stores import stored_sources
from ultracrawl.system.nouns import counted


@click.command("remove", short_help="Remove a source with everything that is stored of it.")
@click.argument("source", type=SOURCE_NAME)
@click.option("--yes", is_flag=True, help="Do not ask.")
@project_option
@json_option
def remove(source: str, yes: bool, project: Project, as_json: bool) -> None:
    """Remove SOURCE: its documents in the indexes and other destinations, and all that is stored of it.

    It is meant for a source that no file defines any more. A source that is still defined loses everything too; its
    next crawl starts anew. A source of `crawl --url` is forgotten. `ultracrawl approve SOURCE --remove URL` removes a
    single page.

    \b
    Examples:
      ultracrawl remove members
      ultracrawl remove members --yes --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if "://" in source:
        owner = next(iter(project.known_sources), "") if len(project.known_sources) == 1 else "SOURCE"
        raise Mistake.URL_TO_REMOVE.error(url=source, instead=f"ultracrawl approve {owner} --remove {source}")
    _require_known(project, source)
    confirm(f"Remove {source}, its documents and all that is stored of it?", yes=yes)
    removed = remove_source(project, source)
    if as_json:
        print_json(removed.as_json())
    else:
        print_removed(removed)


def print_removed(removed: RemovedSource) -> None:
    """Print what was removed."""
    print_line(
        f"{removed.source}: removed; {counted(removed.documents, 'document')} left the index, "
        f"{counted(removed.urls, 'URL')} forgotten"
    )
    if removed.defined:
        click.echo("  its definition is still there: the next crawl starts anew")


@click.command("rename", short_help="Give a source another name; nothing is fetched again.")
@click.argument("source", type=SOURCE_NAME)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@project_option
@json_option
def rename(source: str, name: str, yes: bool, project: Project, as_json: bool) -> None:
    """Give everything that is stored of SOURCE the name NAME: its state, documents, stored responses and logs.

    Write the new name into the definition file as well, before or after. The next crawl goes on where the last one
    ended. NAME must not have been crawled itself.

    \b
    Examples:
      ultracrawl rename members mitglieder
      ultracrawl rename members mitglieder --yes --json
    """  # noqa: D301 - as above
    _require_known(project, source)
    if not name or name != to_source_name(name, ""):
        raise Mistake.BAD_SOURCE_NAME.error(name=name)
    if source == name:
        raise Mistake.SAME_NAME.error(name=name)
    confirm(f"Give everything that is stored of {source} the name {name}?", yes=yes)
    require_idle(project, name)
    renamed = rename_source(project, source, name)
    if as_json:
        print_json(renamed.as_json())
        return
    print_line(f"{source}: is {name} now; it has {counted(renamed.documents, 'document')} in the index")
    if name not in project.known_sources and not is_adhoc(project, source):
        print_line(
            f"  write {name} into the definition file, too; until then searches leave its documents out"
        )


def _require_known(project: Project, name: str) -> None:
    """Raise `UserError` for a name that neither the definitions, nor the state, nor an index has."""
    known = {*project.known_sources, *stored_sources(project), *chain(*unfinished_renames(project))}
    if name in known:
        return
    for index in (PROJECT_INDEX, *project.indexes):
        with suppress(UltracrawlError), closing(open_index(project, index)) as opened:
            known.update(opened.sources())
    if name not in known:
        guess = closest_match(name, known)
        likely_first = sorted(known, key=lambda one: (one != guess, one))
        raise Mistake.NO_SUCH_SOURCE.error(name=name, known=likely_first)
