"""When a site is requested next, as `ultracrawl status SITE` shows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.run.inspection.site_view import view_site
from ultracrawl.sources import CompiledSource
from ultracrawl.stores import SiteClock, SiteStore, Store, StoredSite
from ultracrawl.stores.control_channel import Phase

NOW = 1000.0


@pytest.mark.parametrize(
    ("phase", "on_hold", "next_at"),
    [(None, False, NOW + 2.0), (Phase.RUNNING, False, NOW + 64.0), (None, True, NOW + 64.0)],
    ids=["the next crawl tries it", "this crawl waits", "the server asked for it"],
)
def test_a_back_off_is_shown_to_the_crawl_that_waits_for_it(
    phase: Phase | None, next_at: float, *, on_hold: bool
) -> None:
    clock = SiteClock("h", NOW + 64.0, NOW, 64.0, "64 s (back-off)", on_hold, errors=5, slowed=64.0)
    state = SimpleNamespace(
        sites=SimpleNamespace(get_site=StoredSite),
        queue=SimpleNamespace(number_by_level=lambda _: {1: 4}),
        runs=lambda _: [],
    )
    sites = SimpleNamespace(get_clock=lambda _: clock, lease_holder=lambda _: None)
    rules = SimpleNamespace(name="s", pace=Pace(2.0))
    view = view_site(cast(Store, state), cast(SiteStore, sites), cast(CompiledSource, rules), "h", NOW, phase)
    assert view is not None
    assert view.next_at == next_at
    assert view.clock.errors == 5
