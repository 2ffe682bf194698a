"""`ultracrawl approve-changes`: lets in or discards changes that the change guard held back."""

from __future__ import annotations

import click

from ultracrawl.cli.audit import note_details
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, chosen_sources, json_option, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.model import UrlRecord
from ultracrawl.service.deletions import changes_json, changes_of, held_changes
from ultracrawl.sources import Project
from ultracrawl.stores.opening import state_exists

MAX_SHOWN = 20


@click.command("approve-changes")
@click.argument("source", type=SOURCE_NAME)
@project_option
@click.option(
    "--list", "only_list", is_flag=True, help="List the documents, and change nothing; works during a crawl."
)
@click.option(
    "--discard", is_flag=True, help="Drop the new versions, until a later crawl finds the same again."
)
@json_option
def command(source: str, project: Project, only_list: bool, discard: bool, as_json: bool) -> None:
    """Let new versions of documents of SOURCE into the index that a crawl held back because they are alike each other.

    A crawl keeps the former versions when more than `modification.percent` of the documents of its source become
    alike: a log-in page, a challenge or a maintenance page that a server returns for every URL looks like that.

    \b
    Examples:
      ultracrawl approve-changes handbook --list
      ultracrawl approve-changes handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (chosen,) = chosen_sources(project, [source])
    if only_list and discard:
        raise Mistake.EXCLUDE_EACH_OTHER.error(options="--list and --discard")
    if not state_exists(project, chosen.name):
        return _print_result(chosen.name, [], "accepted", as_json=as_json)
    if only_list:
        return _print_result(chosen.name, held_changes(project, chosen), "held", as_json=as_json)
    with changes_of(project, chosen) as changes:
        held = changes.candidates()
        if discard:
            changes.discard(held)
        else:
            changes.accept(held)
    note_details(documents=len(held))
    return _print_result(chosen.name, held, "discarded" if discard else "accepted", as_json=as_json)


_TEXTS = {
    "held": "have a new version that is held back",
    "discarded": "keep their former version",
    "accepted": "were replaced by their new version",
}


def _print_result(source: str, held: list[UrlRecord], done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(changes_json(source, done, held))
        return
    click.echo(f"{source}: {len(held):,} documents {_TEXTS[done]}")
    for record in held[:MAX_SHOWN]:
        print_line(f"  {record.shown_url}  ({record.reason})")
    if len(held) > MAX_SHOWN:
        click.echo(f"  and {len(held) - MAX_SHOWN:,} more (--json shows all)")
