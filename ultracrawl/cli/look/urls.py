"""`ultracrawl urls`: lists the document table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from ultracrawl.cli.options import (
    SOURCE_NAME,
    json_option,
    known_sources,
    numbers_option,
    print_json,
    project_option,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import StateError
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.run.inspection.broken_links import broken_links
from ultracrawl.sources import Project
from ultracrawl.stores import Store
from ultracrawl.stores.project_stores import state_to_read
from ultracrawl.stores.url_rows import url_json
from ultracrawl.system.nouns import counted


@click.command("urls")
@project_option
@click.argument("sources", type=SOURCE_NAME, nargs=-1)
@click.option("--source", "named", type=SOURCE_NAME, multiple=True, hidden=True, help="The same as SOURCES.")
@click.option(
    "--outcome",
    type=click.Choice([outcome.value for outcome in UrlOutcome], case_sensitive=False),
    help="Only URLs that ended so in their latest visit.",
)
@numbers_option
@json_option
def command(
    project: Project,
    sources: tuple[str, ...],
    named: tuple[str, ...],
    outcome: str | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """List every known URL of SOURCES (all if none is named) with its latest outcome and HTTP status.

    With --outcome GONE each URL that is not found says which page links to it, and how many more do;
    `ultracrawl explain URL` names them all. With --json one object a line.

    \b
    Examples:
      ultracrawl urls --outcome GONE
      ultracrawl urls handbook --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    wanted = UrlOutcome(outcome.upper()) if outcome else None
    unreadable: list[StateError] = []
    is_any_crawled = False
    for definition in known_sources(project, (*sources, *named)):
        try:
            with state_to_read(project, definition.name) as state:
                if state is not None:
                    is_any_crawled = True
                    _list(state, wanted, verbose, as_json)
        except StateError as error:
            unreadable.append(error)
    if unreadable:
        raise StateError("\n".join(map(str, unreadable)))
    if not is_any_crawled:
        click.echo("No URL is known yet; `ultracrawl crawl` finds them.", err=True)


def _list(state: Store, wanted: UrlOutcome | None, verbose: bool, as_json: bool) -> None:
    records: Iterable[UrlRecord] = state.records.all_records(wanted)
    linking: dict[str, list[str]] | None = None
    if wanted is UrlOutcome.GONE:
        records = list(records)
        linking = broken_links(state, records)
    for record in records:
        pages = None if linking is None else linking[record.url]
        if as_json:
            print_json(url_json(state, record) | {"linked_from": pages})
        else:
            why = record.cause.logged if verbose else record.reason
            status = str(record.status_code) if verbose else record.answer
            print_line(
                f"{record.outcome.value:<14} {status:>4}  {record.shown_url}{f'  ({why})' if why else ''}"
                + (f"; linked from {_shortened(pages)}" if pages else "")
            )


def _shortened(pages: Sequence[str]) -> str:
    first, *others = pages
    more = f" and {counted(len(others), 'more page')}" if others else ""
    return f"{first}{more}"
