"""Opens the filters of a source."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run import filters

if TYPE_CHECKING:
    from ultracrawl.run.filters.filtering import Filtering
    from ultracrawl.sources import CompiledSource, DataSource


def filtering_of(source: DataSource, kept: Filtering | None) -> Filtering | None:
    """Return the filters of a source, if it has any: those kept by the process for all crawls, or new ones.

    Raises `DefinitionError` or `UserError`.
    """
    if kept is not None or not source.filters.file:
        return kept
    return filters.Filtering(source.filters, time.time, source.conversion.timeout)


@contextmanager
def url_judge(
    filtering: Filtering | None, addresses: Callable[[str], Iterable[str]]
) -> Iterator[Callable[[str, int], str] | None]:
    """Provide a function that returns which filter denies a URL (with its depth) a description; None without filters.

    The check precedes any fetch. `addresses` looks up a host, for filters that need its address.
    """
    if filtering is None:
        yield None
        return

    def refusal(url: str, depth: int) -> str:
        address = next(iter(addresses(host_of(url))), "") if filtering.needs_address else ""
        views = filtering.judge(url, depth, address)
        return "" if views.generation is not None else views.cause.subject

    filtering.start()
    try:
        yield refusal
    finally:
        filtering.release()


def with_filters(rules: CompiledSource, filtering: Filtering | None) -> CompiledSource:
    """Return the rules of a source with a recipe that includes the digest of its filter files, if it has any.

    In a listed source, filter rules are not applied to unchanged documents, so their digest is included, too.
    """
    if filtering is None:
        return rules
    digest = f"{filtering.recipe_digest}{filtering.rules_digest}" if rules.listed else filtering.recipe_digest
    return replace(rules, recipe=sha256(f"{rules.recipe}{digest}".encode()).hexdigest()[:32])
