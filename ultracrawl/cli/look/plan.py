"""`ultracrawl plan`: shows what the next crawl would drop, add and scan again."""

from __future__ import annotations

import click

from ultracrawl.cli.options import (
    SOURCE_NAME,
    chosen_sources,
    config_option,
    json_option,
    open_project,
    print_all,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.run.inspection.forecast import Forecast
from ultracrawl.run.inspection.source_inspection import forecast_of
from ultracrawl.system.nouns import counted, noun_of

URLS_SHOWN = 10


@click.command("plan")
@click.argument("sources", type=SOURCE_NAME, nargs=-1)
@config_option
@json_option
def command(sources: tuple[str, ...], config: str | None, as_json: bool) -> None:
    """Show what the next crawl of SOURCES (all if none is named) would begin with, after a change of the definition.

    Which known URLs would be dropped, by which rule, and how many documents with them; which documents filters would
    leave out; which start URLs would be added; whether every page would be scanned anew. What is decided only after
    a fetch (types, sizes, languages, `Data` directives of filters) is not shown. Nothing is fetched and nothing
    is changed. A rewriter and the filters of the source are asked, and hosts are looked up where these or address
    masks want it, as in the crawl itself.

    \b
    Examples:
      ultracrawl plan
      ultracrawl plan handbook -c new.yaml --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    forecasts = [forecast_of(project, source) for source in chosen_sources(project, sources)]
    print_all("sources", forecasts, _print, as_json=as_json)


def _print(forecast: Forecast) -> None:
    run = "resumes the unfinished run" if forecast.resumes else "is a new one"
    begins = counted(forecast.scheduled, "URL") + (" and what is listed then" if forecast.listed else "")
    click.echo(
        f"{forecast.source}: {counted(forecast.known, 'URL')} known; the next run {run} and begins with {begins}"
    )
    for rule, number in forecast.dropped.most_common():
        click.echo(f"  {number:>9,}  dropped: {rule}")
    if forecast.dropped:
        click.echo(
            f"  {forecast.deleted:>9,}  {noun_of(forecast.deleted, 'document')} leaving the index with them"
        )
    if forecast.held_back:
        click.echo(
            "             held back until `ultracrawl approve-deletions`, unless the run finds other pages: "
            "the rules leave no page but start URLs; check what you wrote"
        )
    for rule, number in forecast.left_out.most_common():
        click.echo(f"  {number:>9,}  {noun_of(number, 'document')} left out by the filters: {rule}")
    if forecast.forgotten:
        click.echo(f"  {forecast.forgotten:>9,}  forgotten: gone several times, and nothing links to them")
    click.echo(f"  {forecast.stays:>9,}  stay")
    for pattern in forecast.traps:
        print_line(f"  crawler trap, no new URL of it is requested: {pattern}")
    _print_start_urls(forecast)
    if forecast.change.scope:
        click.echo("  every page is scanned anew, because other URLs may belong to the source now")
    if forecast.change.recipe:
        click.echo("  every page is processed again, because the definition makes other documents of it now")
    if forecast.change.sites:
        names = ", ".join(forecast.change.sites.names)
        click.echo(
            f"  every page of {names} is processed again, because its options make other documents now"
        )


def _print_start_urls(forecast: Forecast) -> None:
    for url in forecast.start_urls[:URLS_SHOWN]:
        click.echo(f"  start URL added: {url}")
    if len(forecast.start_urls) > URLS_SHOWN:
        click.echo(f"  and {len(forecast.start_urls) - URLS_SHOWN:,} more start URLs (--json shows all)")
    for url, rule in forecast.refused.items():
        click.echo(f"  start URL outside: {url} ({rule})")
