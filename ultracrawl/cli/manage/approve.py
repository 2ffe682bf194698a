"""`ultracrawl approve`: approves documents, and removes or restores URLs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict

import click

from ultracrawl.cli.audit import note_details
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import (
    SOURCE_NAME,
    json_option,
    known_sources,
    print_json,
    readable_project_option,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.service.approval import Approval, ApprovalReport, Selection, approval_of, keep_for_run
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.project_stores import open_state, state_exists
from ultracrawl.stores.site_orders import SiteAction
from ultracrawl.system.nouns import counted


@click.command("approve")
@click.argument("source", type=SOURCE_NAME)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--prefix", "prefixes", multiple=True, metavar="TEXT", help="Also URLs that begin with TEXT.")
@click.option(
    "--regexp",
    "expressions",
    multiple=True,
    metavar="EXPR",
    help="Also URLs that match EXPR (RE2) as a whole.",
)
@click.option("--list", "listing", is_flag=True, help="Show what waits, and change nothing.")
@click.option("--remove", is_flag=True, help="Remove the URLs permanently, those in the index too.")
@click.option("--restore", is_flag=True, help="Have the next crawl fetch removed URLs again.")
@readable_project_option
@json_option
def command(
    source: str,
    urls: tuple[str, ...],
    prefixes: tuple[str, ...],
    expressions: tuple[str, ...],
    listing: bool,
    remove: bool,
    restore: bool,
    project: Project,
    as_json: bool,
) -> None:
    """Index the documents of SOURCE that wait for approval: all of them, or only the URLs named.

    Documents wait after a crawl in the mode `examine`. They were kept when they were crawled, and are not fetched
    again. With --remove URLs leave queue and index, stay known with status 955, and are not crawled again. While SOURCE
    is being crawled, or its definition has mistakes, the order is kept: the running crawl carries it out, or the next
    one. With --list --json each document that waits is one object a line.

    \b
    Examples:
      ultracrawl approve handbook --list
      ultracrawl approve handbook --remove https://handbook.example.com/draft.html
      ultracrawl approve handbook --remove --prefix https://handbook.example.com/internal/
      ultracrawl approve handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (definition,) = known_sources(project, [source])
    selection = Selection(urls, prefixes, expressions)
    _check(selection, listing, remove, restore)
    if not state_exists(project, source):
        raise Mistake.NEVER_CRAWLED.error(name=source)
    if listing:
        _list(project, definition, selection, as_json)
        return
    action = SiteAction.DELETE if remove else SiteAction.RESTORE if restore else SiteAction.APPROVE
    carry_out(project, definition, selection, action, as_json=as_json)


def carry_out(
    project: Project, source: DataSource, selection: Selection, action: SiteAction, *, as_json: bool
) -> None:
    """Do something to URLs of a source, or keep it for its running crawl, and print what was done."""
    if keep_for_run(project, source.name, selection.orders(action)):
        if as_json:
            print_json({"source": source.name, "kept": True})
        else:
            click.echo(f"{source.name}: kept; its running crawl carries it out, or the next one")
        return
    with approval_of(project, source) as approval:
        _decide(approval, selection, action)
    note_details(**asdict(approval.report))
    if as_json:
        print_json(asdict(approval.report))
    else:
        _print(approval.report, action)


def _check(selection: Selection, listing: bool, remove: bool, restore: bool) -> None:
    if listing + remove + restore > 1:
        raise Mistake.EXCLUDE_EACH_OTHER.error(options="--list, --remove and --restore")
    if (remove or restore) and selection.everything:
        raise Mistake.EVERYTHING_MEANT.error(option="--remove" if remove else "--restore")


def _decide(approval: Approval, selection: Selection, action: SiteAction) -> None:
    if action is SiteAction.DELETE:
        approval.remove(selection)
    elif action is SiteAction.RESTORE:
        approval.restore(selection)
    else:
        approval.approve(selection)


def _list(project: Project, source: DataSource, selection: Selection, as_json: bool) -> None:
    is_selected = selection.test()
    with closing(open_state(project, source.name, read_only=True)) as state:
        for record in filter(is_selected, state.records.pending_records()):
            if as_json:
                print_json(record.as_json())
            else:
                print_line(record.shown_url)


def _print(report: ApprovalReport, action: SiteAction) -> None:
    if action is SiteAction.DELETE:
        done = (
            f"{counted(report.removed, 'URL')} removed, {counted(report.deleted, 'document')} left the index"
        )
    elif action is SiteAction.RESTORE:
        done = f"{counted(report.restored, 'URL')} restored, for the next crawl to fetch"
    else:
        done = f"{counted(report.indexed, 'document')} indexed"
    click.echo(f"{report.source}: {done}; waiting: {report.pending:,}")
