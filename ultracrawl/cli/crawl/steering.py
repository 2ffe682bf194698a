"""`ultracrawl pause`, `resume` and `stop`: commands for running crawls."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

import click

from ultracrawl.cli.options import (
    SOURCE_NAME,
    Seconds,
    json_option,
    print_all,
    server_option,
    steering_option,
)
from ultracrawl.errors import UserError
from ultracrawl.service.control import SteerResult
from ultracrawl.service.schedules.steering import steer_source
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command

F = TypeVar("F", bound=Callable[..., Any])


def wait_options(function: F) -> F:
    """Add `--timeout` and `--no-wait`."""
    function = click.option("--no-wait", is_flag=True, help="Give the order and return at once.")(function)
    return click.option(
        "--timeout",
        type=Seconds(min=0, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Longest time to wait until the crawl has obeyed.",
    )(function)


def _order_verb(described: Callable[[], None]) -> click.Command:
    """Return a verb that sends the command named like the function to crawls, with its docstring as help."""
    order = Command(described.__name__)

    @click.command(order.value, help=cleandoc(described.__doc__ or ""))
    @server_option(order.value)
    @click.argument("sources", type=SOURCE_NAME, nargs=-1, required=True)
    @wait_options
    @steering_option
    @json_option
    def command(
        sources: tuple[str, ...], timeout: float, no_wait: bool, project: Project, as_json: bool
    ) -> None:
        results, problems = [], []
        for source in sources:
            try:
                results.append(steer_source(project, source, order, timeout=0.0 if no_wait else timeout))
            except UserError as error:
                problems.append(error)
        if results or not problems or not as_json:
            print_all("sources", results, print_steered, as_json=as_json)
        if problems:
            raise UserError("; ".join(map(str, problems)))
        raise SystemExit(0 if all(result.obeyed for result in results) else 1)

    return command


def print_steered(result: SteerResult) -> None:
    """Print the result of a command."""
    click.echo(f"{result.source}: {result.note}", err=not result.obeyed)


@_order_verb
def pause() -> None:
    """Pause the running crawls of SOURCES, whatever started them.

    A paused crawl finishes its requests in flight and indexes the documents, then waits for `resume` or `stop`. The
    pause ends with its process: the next `ultracrawl crawl` resumes the run. An idle source that a service
    (`crawl --continuous`, `serve`) crawls when it is due is not crawled until `resume`.

    \b
    Examples:
      ultracrawl pause handbook
      ultracrawl pause handbook --timeout 10 --json
    """  # noqa: D301 - click's mark for a block that keeps its lines


@_order_verb
def resume() -> None:
    """Resume the paused crawls of SOURCES.

    A crawl that was stopped or killed is resumed by `ultracrawl crawl`. A source that was paused or stopped in a
    service (`crawl --continuous`, `serve`) is crawled again when it is due.

    \b
    Example:
      ultracrawl resume handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines


@_order_verb
def stop() -> None:
    """End the running crawls of SOURCES, as one Ctrl-C in their terminal does.

    Requests in flight are finished and indexed. The queue is kept, and the next crawl resumes the run. The process of
    the crawl ends with exit code 1, or continues with its next source. Works on paused crawls too. A source that a
    service (`crawl --continuous`, `serve`) crawls at its own interval is not crawled until `resume`; a command that
    has no other source to crawl ends. `ultracrawl schedule stop` stops a schedule.

    \b
    Examples:
      ultracrawl stop handbook
      ultracrawl stop handbook --no-wait
    """  # noqa: D301 - click's mark for a block that keeps its lines
