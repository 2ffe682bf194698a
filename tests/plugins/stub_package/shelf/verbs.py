"""A verb."""

import click

from ultracrawl.cli.plugin_verbs import PluginVerb

COUNT = PluginVerb("Count the sources of a definition file.", "shelf.verbs:command", section="Look")


@click.command("count")
@click.argument("file")
def command(file: str) -> None:
    """Print the number of sources in FILE."""
    from ultracrawl.sources import require
    from ultracrawl.sources.dialects import read_definitions

    click.echo(len(require(read_definitions(file)).sources))
