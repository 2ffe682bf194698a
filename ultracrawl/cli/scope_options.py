"""The options that restrict the crawl of a URL, of `crawl` and `serve`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ultracrawl.cli.mistakes import Mistake
from ultracrawl.settings.adhoc import NONE, AdhocScope


class _NumberOrNone(click.ParamType[str]):
    """A whole number, or `none`; both stay texts."""

    name = "number"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text. Raises `BadParameter`."""
        if value not in ("", NONE) and not (value.isdecimal() and int(value) >= self._least):
            self.fail(f"write a whole number from {self._least} on, or `{NONE}`", param, ctx)
        return value


def scope_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that restrict the crawl of a URL; the function gets them as `scope`."""

    @click.option(
        "--path",
        "paths",
        multiple=True,
        metavar="PATH",
        help="Of the site of a URL, crawl only this path and what is below it; repeatable.",
    )
    @click.option(
        "--exclude",
        multiple=True,
        metavar="PATH",
        help="Leave out every path that begins so: /products/1 also means /products/10; repeatable.",
    )
    @click.option(
        "--depth", type=_NumberOrNone(0), default="", metavar="N", help="Follow links N steps far at most."
    )
    @click.option(
        "--limit",
        "documents",
        type=_NumberOrNone(1),
        default="",
        metavar="N",
        help="Crawl no new URLs once the index has about N documents of the site.",
    )
    @wraps(function)
    def with_scope(
        *, paths: tuple[str, ...], exclude: tuple[str, ...], depth: str, documents: str, **others: Any
    ) -> None:
        function(scope=AdhocScope(paths, exclude, depth, documents), **others)

    return with_scope


def refuse_scope(scope: AdhocScope) -> None:
    """Raise `CommandLineError` for restrictions where no URL is crawled."""
    if scope != AdhocScope():
        raise Mistake.SCOPE_WITHOUT_URL.error()
