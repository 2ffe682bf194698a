"""Three nodes of which one dies, one stands still and one is cut off: all is crawled once, and none too fast."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from support.fleet import Blows, Sources, a_fleet

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(500)]
DELAY = 0.25


def test_whatever_happens_to_three_nodes_all_is_crawled_and_the_index_is_that_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_fleet(tmp_path, monkeypatch) as fleet, ExitStack() as stack:
        sources = Sources(stack, number=9, pages=100, own=3, shared=3)
        fleet.definition["sources"] = sources.definition(DELAY)
        blows = Blows(fleet, sources)
        for share, blow in ((0.2, blows.kill), (0.4, blows.stop), (0.6, blows.cut_off)):
            blows.await_share(share)
            blow()
        blows.check_end(tmp_path, DELAY, patience=240)
