"""What sources hold: counted when their states have changed, and not with every question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.service.metrics import holdings
from ultracrawl.service.metrics.holdings import Holdings, HoldingsReader
from ultracrawl.sources import Project

if TYPE_CHECKING:
    from service.api.conftest import Api


class SlowReading:
    """Reads what a source holds, and takes a second for it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.reads = 0

    def clock(self) -> float:
        return self.now

    def __call__(self, project: Project, name: str) -> Holdings:
        self.reads += 1
        self.now += 1
        return _read(project, name)


_read = holdings.read_holdings


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> SlowReading:
    found = SlowReading()
    monkeypatch.setattr(holdings, "read_holdings", found)
    return found


def test_an_unchanged_state_is_counted_once(
    api: Api, workspace: InProcessWorkspace, site: NetworkSite, reading: SlowReading
) -> None:
    for _ in range(3):
        assert api.get("/sources")["sources"][0]["indexed"] == 3
        assert api.ask("GET", "/metrics").status_code == 200
    assert reading.reads == 1
    site.page("/", title="Birds", links=["/heron", "/egret", "/stork"])
    site.page("/stork", title="Stork")
    workspace.crawl()
    assert api.get("/sources")["sources"][0]["indexed"] == 4
    assert reading.reads == 2


def test_one_that_is_crawled_is_counted_a_twentieth_of_the_time(
    api: Api, workspace: InProcessWorkspace, reading: SlowReading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holdings, "readable_status", lambda *_: "somebody crawls it")
    reader, file = HoldingsReader(reading.clock), api.project.state.path / "site.sqlite"
    for second in range(61):
        file.touch()
        assert reader.holdings_of(api.project, "site").numbers["indexed"] == 3
        reading.now = 1001.0 + second
    assert reading.reads == 3
    monkeypatch.setattr(holdings, "readable_status", lambda *_: None)
    file.touch()
    reader.holdings_of(api.project, "site")
    assert reading.reads == 4, "what it ended with is shown at once"


def test_a_state_in_memory_is_read_each_time(api: Api, reading: SlowReading) -> None:
    project = api.project
    project = project.model_copy(update={"state": project.state.model_copy(update={"engine": "memory"})})
    reader = HoldingsReader(reading.clock)
    for _ in range(2):
        assert reader.holdings_of(project, "site") == Holdings()
    assert reading.reads == 2
