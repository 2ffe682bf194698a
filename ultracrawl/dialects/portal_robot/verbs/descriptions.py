"""`ultracrawl robot export-rds` and `import-rds`: exchange of descriptions with other search servers."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from ultracrawl.cli.options import json_option, print_json
from ultracrawl.dialects.portal_robot.service.descriptions import export_descriptions, import_descriptions
from ultracrawl.dialects.portal_robot.verbs.control import robot_verb
from ultracrawl.errors import UserError
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.definition import to_source_name
from ultracrawl.system.files import convert_write_errors
from ultracrawl.system.nouns import counted

FORMATS = ("soif", "json")


@click.command("export-rds", short_help="Write descriptions as SOIF or JSON.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="soif", show_default=True, help="The form."
)
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Default: standard output."
)
@click.option("--all", "everything", is_flag=True, help="Also those of other sources, and imported ones.")
@robot_verb
def export_rds(
    form: str, output: Path | None, everything: bool, project: Project, source: DataSource
) -> None:
    """Write the descriptions of the index as SOIF, or as one JSON object a line.

    \b
    Examples:
      ultracrawl robot export-rds -o handbook.soif -c config/robot.conf
      ultracrawl robot export-rds --format json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    only = "" if everything else source.name
    if output is None:
        export_descriptions(project, sys.stdout.buffer, source=only, as_json=form == "json")
        sys.stdout.buffer.flush()
        return
    with convert_write_errors(output), output.open("wb") as out:
        number = export_descriptions(project, out, source=only, as_json=form == "json")
    click.echo(f"{counted(number, 'description')} written to {output}", err=True)


@click.command("import-rds", short_help="Import descriptions into the index.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--as",
    "target",
    metavar="NAME",
    default="imported",
    show_default=True,
    help="The source that they belong to.",
)
@click.option("--replace", is_flag=True, help="Remove descriptions of that source that are not in FILE.")
@robot_verb
@json_option
def import_rds(
    file: Path, target: str, replace: bool, project: Project, source: DataSource, as_json: bool
) -> None:
    """Put the descriptions of FILE (SOIF, or JSON as `export-rds` writes it) into the index.

    They belong to a separate source, which no crawl changes. A description replaces one with the same URL.
    Descriptions whose `rd-expires` is in the past are skipped. If FILE has an error, nothing is changed.

    \b
    Examples:
      ultracrawl robot import-rds partner.soif --as partner -c config/robot.conf
      ultracrawl robot import-rds partner.json --as partner --replace
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if target != to_source_name(target, ""):
        raise UserError(f"--as {target} names no source; write letters, digits, `.`, `_` and `-`")
    result = import_descriptions(project, source, file, target, replace=replace)
    if as_json:
        print_json(asdict(result))
    else:
        click.echo(
            f"{target}: {result.added:,} added, {result.expired:,} expired, {result.removed:,} removed"
        )
