"""`ultracrawl screened`: lists the log of excluded links."""

from __future__ import annotations

import click

from ultracrawl.cli.options import SOURCE_NAME, json_option, known_sources, print_json, project_option
from ultracrawl.cli.terminal import print_line
from ultracrawl.run.logs.candidate_logs import excluded_path, read_excluded
from ultracrawl.sources import Project


@click.command("screened")
@click.argument("source", type=SOURCE_NAME, required=False)
@project_option
@click.option(
    "--rule", metavar="TEXT", default="", help="Only links excluded by a rule that holds this text."
)
@json_option
def command(source: str | None, project: Project, rule: str, as_json: bool) -> None:
    """List links that were excluded, with the rule and the page; of SOURCE or of all sources.

    Only sources with `log: {screened: true}` keep this log. With --json one object a line.

    \b
    Examples:
      ultracrawl screened handbook
      ultracrawl screened --rule path --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    for definition in known_sources(project, [source] if source else []):
        path = excluded_path(project, definition.name)
        if not path.exists() and not definition.log.screened:
            note = f"{definition.name} keeps no such log; `log: {{screened: true}}` switches it on"
            click.echo(note, err=True)
        for link in read_excluded(path):
            if rule.lower() not in link["rule"].lower():
                continue
            if as_json:
                print_json({"source": definition.name, **link})
            else:
                where = (link["url"], link["rule"], link["parent"] or "the definition")
                print_line("{}  {}  ({}, in {})".format(link["time"], *where))
