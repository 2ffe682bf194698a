"""`ultracrawl reindex`: indexes stored documents again."""

from __future__ import annotations

import click

from ultracrawl.cli.crawl.progress import Progress
from ultracrawl.cli.crawl.report import print_remade
from ultracrawl.cli.options import SOURCE_NAME, json_option, print_all, project_option
from ultracrawl.service.reindex import reindex_sources
from ultracrawl.sources import Catalog, Project


@click.command("reindex")
@click.argument("sources", type=SOURCE_NAME, nargs=-1)
@click.option(
    "--site", "sites", multiple=True, metavar="HOST", help="Only the documents of this site; may be repeated."
)
@project_option
@json_option
def command(sources: tuple[str, ...], project: Project, as_json: bool, sites: tuple[str, ...] = ()) -> None:
    """Process the stored documents of SOURCES (all if none is named) again and index them, without a request.

    For sources with `storage: {keep: true}`. Use it after the index was lost, or after a change of attributes.
    Documents in the index that are not stored are counted, and left as they are.

    \b
    Examples:
      ultracrawl reindex
      ultracrawl reindex handbook --json
      ultracrawl reindex handbook --site www.example.com
    """  # noqa: D301 - click's mark for a block that keeps its lines
    chosen, refused = Catalog(project).select_for_crawl(sources)
    with Progress(enabled=True) as progress:
        reports = reindex_sources(
            project,
            chosen,
            sites=sites,
            settings={"LOG_LEVEL": "ERROR"},
            watcher=progress.update,
            show=lambda done, going: progress.update_all(done, len(chosen), going),
        )
    reports += refused
    print_all("runs", reports, print_remade, as_json=as_json)
    raise SystemExit(1 if any(report.failed for report in reports) else 0)
