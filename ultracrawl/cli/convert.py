"""`ultracrawl convert`: definitions of another format as YAML."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ultracrawl.dialects import read_definitions
from ultracrawl.errors import UserError, WorkError
from ultracrawl.sources import definition_text, render_findings, require


@click.command("convert")
@click.argument("file")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to this file, which must not exist. Default: standard output.",
)
def command(file: str, output: str | None) -> None:
    """Print the definitions of FILE (a FAST collection, a robot.conf, YAML) as a YAML definition file.

    What comes out means the same as FILE: options at their defaults are left out. Paths are relative where the
    output lies in the same folder as FILE, else absolute. What FILE says and YAML cannot is told on standard error.
    Passwords stand in the output as in FILE, so that only you may read it.

    \b
    Example:
      ultracrawl convert collection.xml -o ultracrawl.yaml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if output is not None and Path(output).exists():
        raise UserError(f"{output} exists already; give the name of a new file")
    loaded = read_definitions(file)
    project = require(loaded)
    if loaded.findings:
        click.echo(render_findings(loaded.findings), err=True)
    folder = Path(output).parent if output else Path(file).parent
    text = definition_text(project, folder)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open(
            os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as stream:
            stream.write(text)
    except OSError as error:
        raise WorkError(f"{output} cannot be written: {error.strerror}") from error
