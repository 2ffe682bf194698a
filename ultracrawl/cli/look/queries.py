"""`ultracrawl queries`: what people search for, and what they do not find."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from ultracrawl.cli.options import json_option, print_json, project_option
from ultracrawl.cli.terminal import escape_controls, print_line
from ultracrawl.service.statistics.report import DEFAULT_DAYS, LEAST_SHOWN, MAX_DAYS, query_report
from ultracrawl.service.statistics.store import QueryStore
from ultracrawl.sources import Project


@click.command("queries")
@project_option
@click.option(
    "--days",
    type=click.IntRange(1, MAX_DAYS),
    default=DEFAULT_DAYS,
    show_default=True,
    help="The number of days (UTC), today included.",
)
@click.option("--without-answers", is_flag=True, help="Only queries that found nothing.")
@click.option(
    "--origin",
    default="",
    metavar="NAME",
    help="Only queries from here: `page`, `api`, or `key:NAME` of a public key.",
)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Queries to show.")
@json_option
def command(
    project: Project, days: int, origin: str, limit: int, *, without_answers: bool, as_json: bool
) -> None:
    """Show what people search for: how often, how often in vain, and which hit they choose.

    `ultracrawl serve` counts the queries of the search page, of the API and of embedded boxes, without users and
    addresses. Counts of one and two are not shown.

    \b
    Examples:
      ultracrawl queries
      ultracrawl queries --days 7 --without-answers
      ultracrawl queries --origin key:docs --limit 100 --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    report = query_report(
        QueryStore.of_project(project),
        datetime.now(UTC).date(),
        days=days,
        origin=origin,
        without_answers=without_answers,
        limit=limit,
    )
    if as_json:
        print_json({"statistics": project.search_page.statistics, **report})
    else:
        _print_report(project, report, without_answers=without_answers)


def _print_report(project: Project, report: Mapping[str, Any], *, without_answers: bool) -> None:
    for day in report["damaged"]:
        print_line(f"{day}: the file of this day is damaged; its counts are lost", err=True)
    if not project.search_page.statistics:
        print_line("search_page.statistics is off: no queries are counted at present", err=True)
    if not report["days"]:
        print_line(f"No queries from {report['from']} to {report['to']}. `ultracrawl serve` counts them.")
        return
    click.secho(f"{'day':<12}{'searches':>10}{'no answer':>11}{'clicks':>9}", bold=True)
    for row in report["days"]:
        print_line(f"{row['day']:<12}{_columns(row)}")
    click.echo()
    if not report["queries"]:
        kind = "without answers " if without_answers else ""
        print_line(f"No query {kind}was counted at least {LEAST_SHOWN} times.")
        return
    click.secho(f"{'searches':>10}{'no answer':>11}{'clicks':>9}{'position':>10}  query", bold=True)
    for row in report["queries"]:
        position = "" if row["mean_position"] is None else f"{row['mean_position']:.1f}"
        print_line(f"{_columns(row)}{position:>10}  {escape_controls(row['query'])}")


def _columns(row: Mapping[str, int | None]) -> str:
    numbers = (row[name] for name in ("searches", "without_answers", "clicks"))
    shown = [f"< {LEAST_SHOWN}" if number is None else f"{number:,}" for number in numbers]
    return f"{shown[0]:>10}{shown[1]:>11}{shown[2]:>9}"
