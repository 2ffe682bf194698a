"""`ultracrawl store`: copies the state of a project to another storage engine or place."""

from __future__ import annotations

import time
from contextlib import nullcontext, suppress

import click

from ultracrawl.cli.audit import note_details, note_project
from ultracrawl.cli.groups import VerbGroup
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import config_option, json_option, print_json
from ultracrawl.cli.terminal import print_line
from ultracrawl.errors import UserError
from ultracrawl.settings.projects import find_project, locate_project
from ultracrawl.sources import Project
from ultracrawl.stores.copying.copy import CopiedStores, Counts, copy_stores, number_of
from ultracrawl.stores.copying.place import StorePlace, place_at, place_of
from ultracrawl.system.nouns import counted

_SECONDS = 5.0
"""Seconds between two lines about the progress of a source."""


@click.group("store", cls=VerbGroup)
def command() -> None:
    """Copy the state of a project between SQLite and PostgreSQL.

    \b
    Example:
      ultracrawl store copy --to postgresql://crawler@db.example.com/crawl
    """  # noqa: D301 - click's mark for a block that keeps its lines


@command.command("copy", short_help="Copy the state of all sources to another place.")
@click.option(
    "--from", "origin", metavar="PLACE", help="What is copied. Default: the state of the definition."
)
@click.option("--to", "target", metavar="PLACE", required=True, help="Where it is copied to.")
@config_option
@json_option
def copy(origin: str | None, target: str, config: str | None, as_json: bool) -> None:
    """Copy the state of all sources, with what they share: sites, log-ins, schedules.

    A PLACE is a folder (also sqlite:FOLDER), or postgresql://USER@HOST/DATABASE?schema=NAME, with further options of
    libpq. A password is in $PGPASSWORD, in ~/.pgpass, or the one of the definition if that names the database.

    Nothing may be crawled meanwhile, and the target may have no sources. A copy that was killed is begun again by the
    same command; until it is whole, no command takes it for a state. What is copied stays as it is. Index, document
    cache, stored documents, lists, users and tokens are in no store: they stay where they are.

    \b
    Examples:
      ultracrawl store copy --to "postgresql://crawler@db.example.com/crawl?schema=intranet"
      ultracrawl store copy --from postgresql://crawler@localhost/crawl --to var/state-2
    """  # noqa: D301 - as above
    project = _project(config)
    if project is not None:
        note_project(project)
    if origin is not None:
        read = place_at(origin, project)
    elif project is not None:
        read = place_of(project)
    else:
        raise Mistake.NOTHING_TO_COPY.error()
    written = place_at(target, project)
    begun = time.monotonic()
    copied = copy_stores(read, written, _Progress(shown=not as_json))
    note_details(sources=len(copied.sources), rows=copied.rows)
    _print_result(copied, read, written, time.monotonic() - begun, as_json=as_json)


def _project(config: str | None) -> Project | None:
    """Return the project, None where nothing is defined. Raises `UserError` for a definition with a mistake."""
    defined = config is not None or locate_project()[0] is not None
    with nullcontext() if defined else suppress(UserError):
        return find_project(config)[0]
    return None


class _Progress:
    """Prints to standard error how far a copy is."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._printed = time.monotonic()

    def __call__(self, source: str, rows: int, urls: int) -> None:
        """Print a line, if the last one is some seconds ago."""
        now = time.monotonic()
        if self._shown and now - self._printed >= _SECONDS:
            self._printed = now
            known = f", {counted(urls, 'URL')}" if urls else ""
            print_line(f"{source or 'shared'}: {counted(rows, 'row')} so far{known}", err=True)


def _print_result(
    copied: CopiedStores, origin: StorePlace, target: StorePlace, seconds: float, *, as_json: bool
) -> None:
    if as_json:
        print_json(
            {
                "from": str(origin),
                "to": str(target),
                "sources": copied.sources,
                "shared": copied.shared,
                "rows": copied.rows,
                "changed": copied.changed,
                "state": target.definition,
            }
        )
        return
    for source, counts in copied.sources.items():
        queued = f", {counts['queue']:,} of them in the queue" if counts.get("queue") else ""
        print_line(
            f"{source}: {counted(counts.get('url', 0), 'URL')}{queued}; {counted(number_of(counts), 'row')}"
        )
    print_line(f"shared: {_described(copied.shared)}; {counted(number_of(copied.shared), 'row')}")
    print_line(
        f"Copied {counted(len(copied.sources), 'source')}, {counted(copied.rows, 'row')}, "
        f"from {origin} to {target} in {seconds:.1f} s."
    )
    if copied.changed:
        print_line(
            f"{counted(copied.changed, 'row')} had texts with U+0000 (NUL) or halves of characters, "
            "which not every store can hold; they were replaced."
        )
    section = ", ".join(f"{name}: {value}" for name, value in target.definition.items())
    print_line(f"To crawl with the copy, write into the definition: state: {{{section}}}")


def _described(shared: Counts) -> str:
    return (
        f"{counted(shared.get('clock', 0), 'site')}, {shared.get('robots', 0):,} robots.txt, "
        f"{counted(shared.get('schedule', 0), 'schedule')}"
    )
