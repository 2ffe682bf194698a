"""The options that `serve` and `node run` share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import Seconds
from ultracrawl.service.access.sites import origin_of
from ultracrawl.service.orders import DRAIN_TIMEOUT
from ultracrawl.sources.values import NODE_NAME

F = TypeVar("F", bound=Callable[..., Any])


def patience_option(function: F) -> F:
    """Add `--patience`."""
    return click.option(
        "--patience",
        type=Seconds(min=0),
        default=DRAIN_TIMEOUT,
        show_default=True,
        metavar="SECONDS",
        help="Time for crawls to end cleanly when the process ends; then they are killed.",
    )(function)


def checked_node(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """Return the name of a node. Raises `CommandLineError` for what cannot be one."""
    if name and not re.fullmatch(NODE_NAME, name):
        raise Mistake.BAD_NODE_NAME.error(name=name)
    return name


def site_origins(sites: tuple[str, ...], *, is_public: bool) -> tuple[str, ...]:
    """Return the origins of `--site`. Raises `UserError`, also if `--public` is there without it or the reverse."""
    if is_public and not sites:
        raise Mistake.PUBLIC_WITHOUT_SITE.error(example="https://docs.example.com")
    if sites and not is_public:
        raise Mistake.SITE_WITHOUT_PUBLIC.error()
    return tuple(dict.fromkeys(map(origin_of, sites)))
