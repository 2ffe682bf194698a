"""What `pause`, `resume` and `stop` have in common: their options, and how they say what happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ultracrawl.cli.options import known_sources, open_project, print_json
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


def give_order(
    command: Command,
    sources: tuple[str, ...],
    config: str | None,
    timeout: float,
    no_wait: bool,
    as_json: bool,
) -> None:
    """Give an order to the crawls of sources and print what happened. Exits with 1 if one did not obey."""
    project = open_project(config)
    results, problems = [], []
    for source in known_sources(project, sources):
        try:
            results.append(steer(project, source.name, command, timeout=0.0 if no_wait else timeout))
        except UserError as error:
            problems.append(error)
    if as_json and (results or not problems):
        print_json({"sources": [one.as_json() for one in results]})
    elif not as_json:
        for one in results:
            _print(one)
    if problems:
        raise UserError("; ".join(map(str, problems)))
    raise SystemExit(0 if all(one.obeyed for one in results) else 1)


def _print(one: Steered) -> None:
    click.echo(f"{one.source}: {one.note}", err=not one.obeyed)
