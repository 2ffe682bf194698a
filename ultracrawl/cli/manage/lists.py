"""`ultracrawl lists`: prints the lists of values."""

from __future__ import annotations

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import json_option, print_json, project_option
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import value_lists


@click.command("lists")
@click.argument("attribute", required=False)
@project_option
@click.option("--language", metavar="CODE", default="", help="Show display names in this language.")
@json_option
def command(attribute: str | None, project: Project, language: str, as_json: bool) -> None:
    """Print the values that search attributes may have, with display names; of ATTRIBUTE or of all with a list.

    Lists are defined under `lists:` of the definition, or were loaded by `ultracrawl load-metadata`. With --json one
    object a value.

    \b
    Examples:
      ultracrawl lists
      ultracrawl lists Country --language de --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    lists = value_lists(project)
    if attribute is not None and attribute not in lists:
        raise Mistake.NO_SUCH_NAME.error(what="list of values", name=attribute, known=sorted(lists))
    if not (lists or as_json):
        click.echo(
            "No list of values is defined or loaded; `lists:` of the definition defines some.", err=True
        )
    for listed in (lists[attribute],) if attribute else lists.values():
        for value in listed.values:
            display_name = value.display_name(language)
            if as_json:
                row = {
                    "attribute": listed.attribute,
                    "value": value.value,
                    "display": display_name,
                    "names": dict(value.names),
                }
                print_json(row)
            else:
                click.echo(f"{listed.attribute}  {value.value}  {display_name}")
