"""`ultracrawl convert`: converts definitions to YAML."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import FormatsCommand, config_option
from ultracrawl.sources import definition_text, render_findings, require
from ultracrawl.sources.dialects import locate_definitions, read_definitions
from ultracrawl.system.files import convert_write_errors


@click.command("convert", cls=FormatsCommand)
@click.argument("file", required=False)
@config_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to this file, which must not exist. Default: standard output.",
)
def command(file: str | None, config: str | None, output: str | None) -> None:
    """Print the definitions of FILE as a YAML definition file.

    The output means the same as FILE; options at their defaults are left out. Paths are relative if the output is in
    the same folder as FILE, else absolute. Options of FILE without an equivalent are reported on standard error.
    Passwords are written as in FILE, so the output file is readable by you only.

    \b
    Example:
      ultracrawl convert collection.xml -o ultracrawl.yaml
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if output is not None and Path(output).exists():
        raise Mistake.FILE_EXISTS.error(file=output)
    if file and config:
        raise Mistake.TWO_FILES.error()
    file = locate_definitions(file or config)
    if file is None:
        raise Mistake.NOTHING_TO_CONVERT.error()
    if not Path(file).exists():
        raise Mistake.NO_FILE.error(file=file)
    loaded = read_definitions(file)
    project = require(loaded)
    if loaded.findings:
        click.echo(render_findings(loaded.findings), err=True)
    folder = Path(output).parent if output else Path(file).parent
    text = definition_text(project, folder)
    if output is None:
        click.echo(text, nl=False)
        return
    with convert_write_errors(output):
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
