"""Nodes that are killed, stopped and cut off at random, for `ULTRACRAWL_SOAK_MINUTES`: each page is crawled once."""

from __future__ import annotations

import os
import random
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.fleet import Blows, Sources, a_fleet

MINUTES = float(os.environ.get("ULTRACRAWL_SOAK_MINUTES", "3"))
SEED = 38
DELAY = 0.25
PAGES_A_MINUTE = 200
"""Pages of each source; its hosts are asked for about as many with what happens to the nodes."""
BLOWS_A_MINUTE = 4

pytestmark = [pytest.mark.night, pytest.mark.timeout(MINUTES * 180 + 600)]


def test_whatever_happens_to_nodes_for_minutes_all_is_crawled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice, number = random.Random(SEED), max(3, round(MINUTES * BLOWS_A_MINUTE))
    with a_fleet(tmp_path, monkeypatch) as fleet, ExitStack() as stack:
        sources = Sources(stack, number=9, pages=round(MINUTES * PAGES_A_MINUTE), own=5, shared=5)
        fleet.definition["sources"] = sources.definition(DELAY)
        blows = Blows(fleet, sources)
        kinds = [blows.kill, blows.stop, blows.cut_off]
        for blow in range(number):
            blows.await_share(0.9 * (blow + 1) / number)
            blows.take_back()
            dice.choice(kinds)()
            print(f"{blow + 1} of {number}: {len(sources.asked())} pages", flush=True)
        blows.check_end(tmp_path, DELAY, patience=600)
