"""`ultracrawl resume`: let paused crawls go on."""

from __future__ import annotations

import click

from ultracrawl.cli.crawl.steering import give_order, wait_options
from ultracrawl.cli.options import config_option, json_option
from ultracrawl.stores.control_channel import Command


@click.command("resume")
@click.argument("sources", nargs=-1, required=True)
@wait_options
@config_option
@json_option
def command(
    sources: tuple[str, ...], timeout: float, no_wait: bool, config: str | None, as_json: bool
) -> None:
    """Let the paused crawls of SOURCES go on.

    A crawl that was stopped or killed is resumed by `ultracrawl crawl`.

    \b
    Example:
      ultracrawl resume handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    give_order(Command.RESUME, sources, config, timeout, no_wait, as_json)
