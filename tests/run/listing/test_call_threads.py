"""Listers and fetchers are made one at a time, in threads: the first one imports libraries."""

from __future__ import annotations

import asyncio
import threading

import pytest
from support.until import PATIENCE, until_on_loop

from ultracrawl.run.listing.call_threads import CallThreads, made_alone


def test_while_one_is_made_another_waits_and_the_loop_goes_on() -> None:
    told: list[str] = []
    other_is_asked_for = threading.Event()

    def make_lister() -> None:
        told.append("lister begun")
        assert other_is_asked_for.wait(PATIENCE)
        told.append("lister made")

    async def both() -> None:
        lister, fetcher = CallThreads("lister"), CallThreads("fetcher")
        first = asyncio.ensure_future(lister.call(made_alone, make_lister))
        await until_on_loop(lambda: told)
        second = asyncio.ensure_future(fetcher.call(made_alone, lambda: told.append("fetcher made")))
        await asyncio.sleep(0)
        other_is_asked_for.set()
        await asyncio.gather(first, second)
        lister.close()
        fetcher.close()

    asyncio.run(both())
    assert told == ["lister begun", "lister made", "fetcher made"]


def test_after_one_that_could_not_be_made_the_next_is() -> None:
    def refuse() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        made_alone(refuse)
    assert made_alone(lambda: "made") == "made"
