"""`ultracrawl approve-deletions`: carries out or discards deletions that the deletion guard held back."""

from __future__ import annotations

import click

from ultracrawl.cli.audit import note_details
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, json_option, known_sources, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.model import UrlRecord
from ultracrawl.service.deletions import deletions_json, deletions_of, held_back
from ultracrawl.sources import Project
from ultracrawl.stores.opening import state_exists

MAX_SHOWN = 20


@click.command("approve-deletions")
@click.argument("source", type=SOURCE_NAME)
@project_option
@click.option(
    "--list", "only_list", is_flag=True, help="List the documents, and change nothing; works during a crawl."
)
@click.option("--discard", is_flag=True, help="Keep the documents, until a later crawl finds the same again.")
@json_option
def command(source: str, project: Project, only_list: bool, discard: bool, as_json: bool) -> None:
    """Delete the documents of SOURCE whose deletion a crawl held back because they were too many at once.

    A crawl deletes nothing when more than `deletion.percent` of the documents of its source are to go: a broken
    server looks like one whose pages are gone.

    \b
    Examples:
      ultracrawl approve-deletions handbook --list
      ultracrawl approve-deletions handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (chosen,) = known_sources(project, [source])
    if only_list and discard:
        raise Mistake.EXCLUDE_EACH_OTHER.error(options="--list and --discard")
    if not state_exists(project, chosen.name):
        return _print_result(chosen.name, [], "deleted", as_json=as_json)
    if only_list:
        return _print_result(chosen.name, held_back(project, chosen), "leaving", as_json=as_json)
    with deletions_of(project, chosen) as deletions:
        leaving = deletions.candidates()
        if discard:
            deletions.discard(leaving)
            result = "kept"
        else:
            deletions.carry_out(leaving)
            result = "deleted"
    note_details(documents=len(leaving))
    return _print_result(chosen.name, leaving, result, as_json=as_json)


def _print_result(source: str, leaving: list[UrlRecord], done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(deletions_json(source, done, leaving))
        return
    text = {"leaving": "are to be deleted from the index", "kept": "are kept", "deleted": "left the index"}[
        done
    ]
    click.echo(f"{source}: {len(leaving):,} documents {text}")
    for record in leaving[:MAX_SHOWN]:
        print_line(f"  {record.shown_url}  ({record.removal})")
    if len(leaving) > MAX_SHOWN:
        click.echo(f"  and {len(leaving) - MAX_SHOWN:,} more (--json shows all)")
