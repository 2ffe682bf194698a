"""`ultracrawl urls`: the document table."""

from __future__ import annotations

import click

from ultracrawl.backends import open_state, state_exists
from ultracrawl.cli.options import chosen_sources, config_option, json_option, open_project, print_json
from ultracrawl.model import UrlOutcome


@click.command("urls")
@config_option
@click.option("--source", metavar="S", default="", help="Only URLs of this source.")
@click.option(
    "--outcome",
    type=click.Choice([outcome.value for outcome in UrlOutcome], case_sensitive=False),
    help="Only URLs that ended so in their latest visit.",
)
@json_option
def command(config: str | None, source: str, outcome: str | None, as_json: bool) -> None:
    """List every known URL with its latest outcome; with --json one object a line.

    \b
    Examples:
      ultracrawl urls --outcome GONE
      ultracrawl urls --source handbook --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    wanted = UrlOutcome(outcome.upper()) if outcome else None
    for definition in chosen_sources(project, [source] if source else []):
        if not state_exists(project, definition.name):
            continue
        state = open_state(project, definition.name, read_only=True)
        for record in state.records(wanted):
            if as_json:
                print_json(record.as_json())
            else:
                reason = f"  ({record.reason})" if record.reason else ""
                click.echo(f"{record.outcome.value:<14} {record.status_code:>4}  {record.shown_url}{reason}")
        state.close()
