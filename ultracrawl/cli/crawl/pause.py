"""`ultracrawl pause`: have running crawls hand out no more requests."""

from __future__ import annotations

import click

from ultracrawl.cli.crawl.steering import give_order, wait_options
from ultracrawl.cli.options import config_option, json_option
from ultracrawl.stores.control_channel import Command


@click.command("pause")
@click.argument("sources", nargs=-1, required=True)
@wait_options
@config_option
@json_option
def command(
    sources: tuple[str, ...], timeout: float, no_wait: bool, config: str | None, as_json: bool
) -> None:
    """Pause the running crawls of SOURCES, whatever started them.

    A paused crawl finishes what is in flight, has it indexed, and then waits for `resume` or `stop`. The pause ends
    with its process: a later crawl of the source goes on.

    \b
    Examples:
      ultracrawl pause handbook
      ultracrawl pause handbook --timeout 10 --json
    """  # noqa: D301 - click's mark for a block that keeps its lines
    give_order(Command.PAUSE, sources, config, timeout, no_wait, as_json)
