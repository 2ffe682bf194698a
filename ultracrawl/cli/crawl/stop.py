"""`ultracrawl stop`: end running crawls cleanly."""

from __future__ import annotations

import click

from ultracrawl.cli.crawl.steering import give_order, wait_options
from ultracrawl.cli.options import config_option, json_option
from ultracrawl.stores.control_channel import Command


@click.command("stop")
@click.argument("sources", nargs=-1, required=True)
@wait_options
@config_option
@json_option
def command(
    sources: tuple[str, ...], timeout: float, no_wait: bool, config: str | None, as_json: bool
) -> None:
    """End the running crawls of SOURCES as one Ctrl-C in their terminal does.

    What is in flight is finished and indexed, what waits stays queued, and the next crawl goes on with it. The process
    of the crawl ends with exit code 1, or goes on with its next source. Works on paused crawls too.

    \b
    Examples:
      ultracrawl stop handbook
      ultracrawl stop handbook --no-wait
    """  # noqa: D301 - click's mark for a block that keeps its lines
    give_order(Command.STOP, sources, config, timeout, no_wait, as_json)
