"""Places for searches: none of those who ask takes them all."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from service.searching.conftest import ANYBODY
from support.leaping_loop import LeapingLoop

from ultracrawl.service.searching import places as places_module
from ultracrawl.service.searching.orders import SearchRefusedError
from ultracrawl.service.searching.places import SearchPlaces, share_of


def test_one_share_never_takes_all_places() -> None:
    async def asked() -> None:
        places, free = SearchPlaces(2), asyncio.Event()
        running: list[int] = []

        async def hog(number: int) -> int:
            async with places.place("hog"):
                running.append(number)
                await free.wait()
            return number

        hogs = [asyncio.ensure_future(hog(number)) for number in range(5)]
        while len(running) < 2:
            await asyncio.sleep(0)
        async with places.place("other"):
            assert len(running) == 2
        free.set()
        assert await asyncio.gather(*hogs) == list(range(5))
        assert running == list(range(5)), "in their order"

    asyncio.run(asked())


@pytest.mark.parametrize("share", ["hog", "other"])
def test_a_search_waits_for_seconds_and_no_longer(share: str) -> None:
    async def asked() -> None:
        places = SearchPlaces(1)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(places.place("hog"))
            if share == "other":
                await stack.enter_async_context(places.place("third"))
            with pytest.raises(SearchRefusedError) as refused:
                async with places.place(share):
                    pass
        assert refused.value.retry_after == 5
        async with places.place(share):
            pass

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        runner.run(asked())


def test_searches_of_a_requester_beyond_those_that_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_module, "_MAX_WAITING", 0)

    async def asked() -> None:
        with pytest.raises(SearchRefusedError):
            async with SearchPlaces(1).place("hog"):
                pass

    asyncio.run(asked())


def test_those_who_share_a_name_are_distinguished_by_address() -> None:
    public = replace(ANYBODY, name="public", role=None)
    assert share_of(ANYBODY, "192.0.2.1") == share_of(ANYBODY, "192.0.2.2")
    assert share_of(public, "192.0.2.1") != share_of(public, "192.0.2.2")
    assert share_of(public, "192.0.2.1") == share_of(public, "192.0.2.1")
    assert share_of(public, "192.0.2.1") != share_of(replace(public, name="key:docs"), "192.0.2.1")
    assert share_of(public, "2001:db8::1") == share_of(public, "2001:db8::ffff:2"), "one client has a /64"
    assert share_of(public, "2001:db8::1") != share_of(public, "2001:db8:0:1::1")
    assert share_of(public, "::ffff:192.0.2.1") != share_of(public, "::ffff:192.0.2.2")
    assert share_of(public, "pipe") != share_of(public, "")
