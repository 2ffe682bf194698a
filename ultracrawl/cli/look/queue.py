"""`ultracrawl queue`: shows which URLs are fetched next, in which order and why."""

from __future__ import annotations

import click

from ultracrawl.cli.options import SOURCE_NAME, chosen_sources, json_option, print_all, project_option
from ultracrawl.model.dates import iso
from ultracrawl.run.inspection.queue_view import DueUrl, QueueView
from ultracrawl.run.inspection.source_inspection import queue_of
from ultracrawl.sources import Project
from ultracrawl.system.nouns import counted


@click.command("queue")
@click.argument("source", type=SOURCE_NAME, required=False)
@project_option
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="URLs of a source.",
)
@json_option
def command(source: str | None, project: Project, limit: int, as_json: bool) -> None:
    """Show which URLs of SOURCE, or of all sources, are fetched next: in which order, and why.

    If a run did not end, this is what waits in its queue. Otherwise it is what the next cycle would begin with if it
    began now; URLs that pages lead to then follow. In mode `adaptive` every URL comes with its score and its
    parts. Nothing is fetched or changed.

    \b
    Examples:
      ultracrawl queue handbook
      ultracrawl queue --limit 100 --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    views = [
        queue_of(project, chosen, limit) for chosen in chosen_sources(project, [source] if source else [])
    ]
    print_all("sources", views, _print, as_json=as_json)


def _print(view: QueueView) -> None:
    minor = f".{view.minor + 1}" if view.mode == "adaptive" and view.cycle else ""
    click.echo(
        f"{view.source}: mode {view.mode.value}, cycle {view.cycle}{minor}, {counted(view.waiting, 'URL')} waiting"
    )
    due = f"; the next cycle is due {iso(view.due)}" if view.due else ""
    begins = "the next crawl begins a cycle, with" + (" what is listed then" if view.listed else "")
    goes_on = "the next crawl continues with them" if view.resumes else begins
    click.echo(f"  {goes_on}{due}")
    for url in view.urls:
        _print_url(url)
    if view.orphans:
        click.echo(f"  orphans, which are {view.orphans_are}:")
    for url in view.orphans:
        _print_url(url)


def _print_url(url: DueUrl) -> None:
    rank = "" if url.rank is None else f"{url.rank:>12,.2f}  "
    fetched = iso(url.last_fetched) or "never"
    click.echo(f"  {rank}{url.url}  ({url.why}; fetched {fetched})")
    if url.score is not None:
        names = [name for name in url.score.__slots__ if getattr(url.score, name)]
        parts = ", ".join(f"{name} {getattr(url.score, name):.2f}" for name in names)
        click.echo(f"      score {url.score.total:.2f}: {parts}")
