"""`ultracrawl remove` and `ultracrawl rename`: a URL, or all that is stored of a source, under its name."""

from __future__ import annotations

from contextlib import closing, suppress
from itertools import chain

import click

from ultracrawl.cli.manage.approve import carry_out
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, confirm, json_option, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import UltracrawlError
from ultracrawl.index.project_index import open_index
from ultracrawl.run.source_data.places import require_idle
from ultracrawl.run.source_data.removing import RemovedSource, remove_source
from ultracrawl.run.source_data.renaming import rename_source, unfinished_renames
from ultracrawl.service.approval import Selection, knowing_sources
from ultracrawl.settings.adhoc import is_adhoc
from ultracrawl.sources import Project
from ultracrawl.sources.definition import to_source_name
from ultracrawl.sources.mistakes import closest_match
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores.project_stores import stored_sources
from ultracrawl.stores.site_orders import SiteAction
from ultracrawl.system.nouns import counted


@click.command("remove", short_help="Remove a URL, or a source with everything that is stored of it.")
@click.argument("source", type=SOURCE_NAME, metavar="SOURCE|URL")
@click.option("--yes", is_flag=True, help="Do not ask.")
@project_option
@json_option
def remove(source: str, yes: bool, project: Project, as_json: bool) -> None:
    """Remove SOURCE: its documents in the indexes and other destinations, and all that is stored of it.

    It is meant for a source that no file defines any more. A source that is still defined loses everything too; its
    next crawl starts anew. A source of `crawl --url` is forgotten.

    With a URL, its document leaves the index, and no crawl brings it back: `ultracrawl approve SOURCE --restore URL`
    does. A duplicate under another address takes its place in the next crawl, unless you remove it, too. While its
    source is being crawled, the crawl carries the order out.

    \b
    Examples:
      ultracrawl remove members
      ultracrawl remove https://handbook.example.com/draft.html
      ultracrawl remove members --yes --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if "://" in source:
        _remove_url(project, source, yes=yes, as_json=as_json)
        return
    _require_known(project, source)
    confirm(f"Remove {source}, its documents and all that is stored of it?", yes=yes)
    removed = remove_source(project, source)
    if as_json:
        print_json(removed.as_json())
    else:
        print_removed(removed)


def _remove_url(project: Project, url: str, *, yes: bool, as_json: bool) -> None:
    """Remove a URL from each source that knows it; `approve --remove` does the same to URLs of one source."""
    owners = list(knowing_sources(project, url))
    if not owners:
        raise Mistake.URL_OF_NO_SOURCE.error(url=url)
    names = ", ".join(source.name for source, _ in owners)
    confirm(f"Remove {url} from {names}, so that no crawl brings it back?", yes=yes)
    for source, access_url in owners:
        carry_out(project, source, Selection((access_url,)), SiteAction.DELETE, as_json=as_json)


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
