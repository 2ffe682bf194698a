"""The options of `ultracrawl serve` for searches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import click

from ultracrawl.cli.options import Seconds
from ultracrawl.service.searching.options import SearchingOptions

_DEFAULTS = SearchingOptions()
_MEGABYTE = 1_000_000


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which gets them as its argument `search`."""

    @click.option(
        "--search-processes",
        type=click.IntRange(min=1),
        default=_DEFAULTS.processes,
        show_default="one for each core",
        metavar="N",
        help="Searches of one requester that run at a time, each in a process.",
    )
    @click.option(
        "--search-timeout",
        type=Seconds(min=0.1),
        default=_DEFAULTS.timeout,
        show_default=True,
        metavar="SECONDS",
        help="A search that takes more processor time is ended; also one that takes ten times as long in all.",
    )
    @click.option(
        "--document-cache",
        type=click.IntRange(min=0),
        default=_DEFAULTS.document_cache // _MEGABYTE,
        show_default=True,
        metavar="MB",
        help="Memory of each search process for documents and words of earlier searches; 0: none.",
    )
    @click.option(
        "--result-cache",
        type=click.IntRange(min=0),
        default=_DEFAULTS.result_cache // _MEGABYTE,
        show_default=True,
        metavar="MB",
        help="Memory for results, which are given again as long as nothing has changed; 0: none.",
    )
    @wraps(command)
    def with_search(
        *,
        search_processes: int,
        search_timeout: float,
        document_cache: int,
        result_cache: int,
        **others: object,
    ) -> None:
        caches = document_cache * _MEGABYTE, result_cache * _MEGABYTE
        command(search=SearchingOptions(search_processes, search_timeout, *caches), **others)

    return with_search
