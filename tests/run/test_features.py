"""The declared list: built in its order, refused if a need stands below, unused features do not exist."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest
from scrapy.exceptions import NotConfigured
from support.context import made_context

from ultracrawl.errors import WorkError
from ultracrawl.run.composition.assembly import close_features_with
from ultracrawl.run.composition.features import FEATURES
from ultracrawl.run.composition.parts import Moment, Parts, Row
from ultracrawl.run.hooks import Feature, Hooks


class First(Feature):
    """Ticks."""

    def tick(self) -> None:
        """Do nothing."""


class Second(First):
    """Needs the first one."""

    def __init__(self, first: First) -> None:
        self.first = first


FIRST = Row(First, lambda _: First(), "first")
SECOND = Row(Second, lambda parts: Second(parts[First]), "needs the first")


def made_parts(*rows: Row[Any]) -> Parts:
    return Parts(made_context(), cast("Any", None), rows, None)


def test_a_feature_gets_what_stands_above_it() -> None:
    parts = made_parts(FIRST, SECOND)
    parts.build(Moment.CREATED)
    assert parts[Second].first is parts[First]


def test_a_row_whose_need_stands_below_it_is_refused() -> None:
    with pytest.raises(NotConfigured, match="First"):
        made_parts(SECOND, FIRST).build(Moment.CREATED)


def test_a_feature_that_the_source_does_not_use_does_not_exist() -> None:
    parts = made_parts(FIRST._replace(used=lambda _: False))
    parts.build(Moment.CREATED)
    assert parts.get(First) is None
    with pytest.raises(NotConfigured, match="First"):
        parts[First]


def test_hooks_are_called_in_the_order_of_the_rows_whenever_they_are_built() -> None:
    parts, hooks = made_parts(SECOND._replace(moment=Moment.BEGUN), FIRST), Hooks()
    for moment in Moment:
        parts.build(moment)
        hooks.bind(parts.in_order())
    assert hooks[Feature.tick] == (parts[Second].tick, parts[First].tick)


def test_when_pages_are_looked_at_only_some_features_are_called() -> None:
    parts = made_parts(FIRST, SECOND._replace(inspected=True))
    parts.build(Moment.CREATED)
    assert list(parts.in_order(inspected=True)) == [parts[Second]]


def test_every_row_has_one_class_and_a_reason() -> None:
    assert len({row.feature for row in FEATURES}) == len(FEATURES)
    assert all(row.why for row in FEATURES)


class Closing(Feature):
    """Notes that it was closed, and fails then if it is to."""

    def __init__(self, closed: list[str], name: str, *, fails: bool = False) -> None:
        self._closed, self._name, self._fails = closed, name, fails

    async def closed(self) -> None:
        """Close it."""
        self._closed.append(self._name)
        if self._fails:
            raise WorkError(self._name)


def test_features_are_closed_whenever_they_were_built_and_whatever_others_do() -> None:
    context, closed = made_context(), list[str]()

    async def close() -> None:
        async with AsyncExitStack() as stack:
            close_features_with(stack, context)
            context.hooks.add(Closing(closed, "early"), Closing(closed, "late", fails=True))

    with pytest.raises(WorkError):
        asyncio.run(close())
    assert sorted(closed) == ["early", "late"]
