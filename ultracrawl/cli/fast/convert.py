"""`ultracrawl convert`: converts definitions to YAML, or a source to the files of a portal robot."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ultracrawl.cli.options import chosen_sources, config_option
from ultracrawl.errors import UserError
from ultracrawl.sources import Project, definition_text, render_findings, require
from ultracrawl.sources.dialects import locate_definitions, read_definitions
from ultracrawl.sources.dialects.portal_robot.export.files import robot_text, write_robot
from ultracrawl.system.files import convert_write_errors


@click.command("convert")
@click.argument("file", required=False)
@config_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to this file, or folder, which must not exist. Default: standard output.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(["yaml", "robot"]),
    default="yaml",
    help="A YAML definition file, or the files of a portal robot (robot.conf, filter.conf and so on).",
)
@click.option(
    "--source", "name", metavar="NAME", help="With `--to robot`: the source. Default: the only one."
)
def command(file: str | None, config: str | None, output: str | None, form: str, name: str | None) -> None:
    """Print the definitions of FILE (a FAST collection, a robot.conf, YAML) as a YAML definition file, or as a robot.

    The output means the same as FILE; options at their defaults are left out. Paths are relative if the output is in
    the same folder as FILE, else absolute. Options of FILE without an equivalent are reported on standard error.
    Passwords are written as in FILE, so the output file is readable by you only.

    With `--to robot` one source becomes the files of a portal robot, in the folder `config` of the output. Options
    that these cannot express are left out, and reported on standard error one by one.

    \b
    Examples:
      ultracrawl convert collection.xml -o ultracrawl.yaml
      ultracrawl convert ultracrawl.yaml --to robot --source handbook -o handbook-robot
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if output is not None and Path(output).exists():
        raise UserError(f"{output} exists already; give the name of a new file")
    if name is not None and form != "robot":
        raise UserError("--source goes with `--to robot`; a YAML file holds all sources")
    if file and config:
        raise UserError("name one file, as FILE or with -c")
    file = locate_definitions(file or config)
    if file is None:
        raise UserError("there is no definition file to convert; name one")
    loaded = read_definitions(file)
    project = require(loaded)
    if loaded.findings:
        click.echo(render_findings(loaded.findings), err=True)
    if form == "robot":
        _robot(project, file, name, output)
        return
    folder = Path(output).parent if output else Path(file).parent
    text = definition_text(project, folder)
    if output is None:
        click.echo(text, nl=False)
        return
    with convert_write_errors(output):
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)


def _robot(project: Project, file: str, name: str | None, output: str | None) -> None:
    """Print or write the files of a robot, and report options that they cannot express."""
    sources = chosen_sources(project, [name] if name else [])
    if len(sources) != 1:
        raise UserError(f"a robot is one source; name it by --source: {', '.join(project.sources)}")
    text = robot_text(project, sources[0], file)
    if output is None:
        for path, content in text.files.items():
            click.echo(f"# ---- config/{path}\n{content}")
    else:
        with convert_write_errors(output):
            for written in write_robot(text, Path(output)):
                click.echo(str(written))
    if text.findings:
        click.echo(render_findings(text.findings), err=True)
