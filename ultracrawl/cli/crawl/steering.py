"""What `pause`, `resume` and `stop` have in common: their options, and how they say what happened."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

import click

from ultracrawl.cli.options import config_option, json_option, known_sources, open_project, print_all
from ultracrawl.errors import UserError
from ultracrawl.service.control import Steered, steer
from ultracrawl.stores.control_channel import Command

F = TypeVar("F", bound=Callable[..., Any])


def wait_options(function: F) -> F:
    """Add `--timeout` and `--no-wait`."""
    function = click.option("--no-wait", is_flag=True, help="Give the order and return at once.")(function)
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Longest time to wait until the crawl has obeyed.",
    )(function)


def order_verb(order: Command, explained: str) -> click.Command:
    """Return the verb that gives an order to running crawls; `explained` is its help."""

    @click.command(order.value, help=cleandoc(explained))
    @click.argument("sources", nargs=-1, required=True)
    @wait_options
    @config_option
    @json_option
    def command(
        sources: tuple[str, ...], timeout: float, no_wait: bool, config: str | None, as_json: bool
    ) -> None:
        _give_order(order, sources, config, timeout, no_wait, as_json)

    return command


def _give_order(
    command: Command,
    sources: tuple[str, ...],
    config: str | None,
    timeout: float,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Print what happened; exit with 1 if one did not obey."""
    project = open_project(config)
    results, problems = [], []
    for source in known_sources(project, sources):
        try:
            results.append(steer(project, source.name, command, timeout=0.0 if no_wait else timeout))
        except UserError as error:
            problems.append(error)
    if results or not problems or not as_json:
        print_all("sources", results, _print, as_json=as_json)
    if problems:
        raise UserError("; ".join(map(str, problems)))
    raise SystemExit(0 if all(one.obeyed for one in results) else 1)


def _print(one: Steered) -> None:
    click.echo(f"{one.source}: {one.note}", err=not one.obeyed)
