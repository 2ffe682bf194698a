"""Places for searches: none of those who ask takes them all."""

from __future__ import annotations

import asyncio
import threading

import pytest
from support.leaping_loop import LeapingLoop

from ultracrawl.service.searching import places as places_module
from ultracrawl.service.searching.orders import SearchRefusedError
from ultracrawl.service.searching.places import SearchPlaces


def test_one_requester_never_takes_all_places_of_searches() -> None:
    async def asked() -> None:
        places = SearchPlaces(2, share=1)
        free, entered = threading.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def hog() -> str:
            loop.call_soon_threadsafe(entered.set)
            free.wait()
            return "hog"

        hogs = [asyncio.ensure_future(places.run("hog", hog)) for _ in range(5)]
        await entered.wait()
        assert await places.run("other", lambda: "at once") == "at once"
        free.set()
        assert await asyncio.gather(*hogs) == ["hog"] * 5

    asyncio.run(asked())


@pytest.mark.parametrize("requester", ["hog", "other"])
def test_a_search_waits_for_seconds_and_no_longer(requester: str) -> None:
    async def asked() -> None:
        places = SearchPlaces(1, share=1)
        free = threading.Event()
        loop = asyncio.get_running_loop()
        assert isinstance(loop, LeapingLoop)
        entered = asyncio.Event()

        def hog() -> None:
            loop.call_soon_threadsafe(entered.set)
            free.wait()

        with loop.true_time():
            running = asyncio.ensure_future(places.run("hog", hog))
            await entered.wait()
        with pytest.raises(SearchRefusedError) as refused:
            await places.run(requester, lambda: None)
        assert refused.value.retry_after == 5
        with loop.true_time():
            free.set()
            await running

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        runner.run(asked())


def test_searches_of_a_requester_beyond_those_that_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_module, "_MAX_WAITING", 0)

    async def asked() -> None:
        with pytest.raises(SearchRefusedError):
            await SearchPlaces().run("hog", lambda: None)

    asyncio.run(asked())
