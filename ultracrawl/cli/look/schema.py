"""`ultracrawl schema`: the JSON schema of the definition file."""

from __future__ import annotations

import json

import click

from ultracrawl.sources import json_schema


@click.command("schema")
def command() -> None:
    """Print the JSON schema of ultracrawl.yaml, so that editors check and complete it.

    \b
    Example (first line of ultracrawl.yaml, for the YAML language server):
      ultracrawl schema > ultracrawl.schema.json
      # yaml-language-server: $schema=ultracrawl.schema.json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
