"""`ultracrawl approve-deletions` and `approve-changes`: decide about what the guards held back."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc

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
from ultracrawl.service.held_back import CHANGES, DELETIONS, ORDERED, HeldBack
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import state_exists
from ultracrawl.system.nouns import counted

MAX_SHOWN = 20
_TEXTS = {
    DELETIONS.waiting: "to be deleted from the index",
    DELETIONS.approved: "left the index",
    DELETIONS.discarded: "kept",
    CHANGES.waiting: "with a new version that is held back",
    CHANGES.approved: "replaced by the new version",
    CHANGES.discarded: "left in the former version",
    ORDERED: "waiting for the running crawl, or the next one, which carries the decision out",
}


def _verb(guard: HeldBack, name: str, discard_help: str) -> Callable[[Callable[[], None]], click.Command]:
    """Return a decorator that makes a verb of a function whose docstring is the help of the verb."""

    def decorate(described: Callable[[], None]) -> click.Command:
        @click.command(name, help=cleandoc(described.__doc__ or ""))
        @click.argument("source", type=SOURCE_NAME)
        @readable_project_option
        @click.option(
            "--list",
            "only_list",
            is_flag=True,
            help="List the documents, and change nothing; works during a crawl.",
        )
        @click.option("--discard", is_flag=True, help=discard_help)
        @json_option
        def command(source: str, project: Project, only_list: bool, discard: bool, as_json: bool) -> None:
            (chosen,) = known_sources(project, [source])
            if only_list and discard:
                raise Mistake.EXCLUDE_EACH_OTHER.error(options="--list and --discard")
            if not state_exists(project, source):
                raise Mistake.NEVER_CRAWLED.error(name=source)
            if only_list:
                done, records = guard.waiting, guard.records(project, chosen)
            else:
                done, records = guard.decide(project, chosen, approve=not discard)
                note_details(documents=len(records))
            if as_json:
                print_json(guard.as_json(source, done, records))
                return
            text = _TEXTS[done if records else guard.waiting]
            click.echo(f"{source}: {counted(len(records), 'document')} {text}")
            for record in records[:MAX_SHOWN]:
                print_line(f"  {record.shown_url}  ({guard.cause_of(record)})")
            if len(records) > MAX_SHOWN:
                click.echo(f"  and {len(records) - MAX_SHOWN:,} more (--json shows all)")

        return command

    return decorate


@_verb(DELETIONS, "approve-deletions", "Keep the documents, until a later crawl finds the same again.")
def approve_deletions() -> None:
    """Delete the documents of SOURCE whose deletion a crawl held back because they were too many at once.

    A crawl deletes nothing when more than `deletion.percent` of the documents of its source are to go: a broken
    server looks like one whose pages are gone. While SOURCE is being crawled, or its definition has mistakes, the
    decision is kept: the running crawl carries it out, or the next one.

    \b
    Examples:
      ultracrawl approve-deletions handbook --list
      ultracrawl approve-deletions handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines


@_verb(CHANGES, "approve-changes", "Drop the new versions, until a later crawl finds the same again.")
def approve_changes() -> None:
    """Let new versions of documents of SOURCE into the index that a crawl held back because their words are lost.

    A crawl keeps the former versions when more than `modification.percent` of the documents of its source would lose
    nearly all of their words: a log-in page, a challenge or a maze that a server returns for every URL looks like that.
    If the pages are new each time, `modification: {percent: 100}` in the definition switches that off. While
    SOURCE is being crawled, or its definition has mistakes, the decision is kept, as by `approve-deletions`.

    \b
    Examples:
      ultracrawl approve-changes handbook --list
      ultracrawl approve-changes handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
