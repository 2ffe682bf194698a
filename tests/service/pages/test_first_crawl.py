"""While the first crawl of a source runs, the page finds what is there, and says what waits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml.html import document_fromstring
from support.pages import Pages

from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.service.pages.first_crawl import first_crawl
from ultracrawl.stores.control_channel import SiteWait

NOW = 1000.0
ANYBODY = Requester("public", RequesterKind.PUBLIC, None, (), None)


@pytest.fixture
def new(pages: Pages) -> Pages:
    """Pages of a project with a further source, in its first crawl."""
    live = {"fetched": 40, "queued": 758, "indexed": 30}
    pages.supervisor.known["new"] = SourceState("new", SourcePhase.RUNNING, "1", live, begun=NOW - 10)
    return pages


def test_its_numbers_are_those_of_the_supervisor(new: Pages) -> None:
    found = first_crawl(new.app.state.api, ANYBODY, NOW)
    assert found is not None
    assert (found.sources, found.waiting, found.speed) == (1, 758, 4.0)


def test_a_long_first_crawl_says_about_how_long(new: Pages) -> None:
    found = first_crawl(new.app.state.api, ANYBODY, NOW)
    assert found is not None
    assert found.left == 180
    assert replace(found, waiting=100).left == 0
    assert replace(found, speed=None).left == 0
    assert replace(found, speed=0.0).left == 0


def test_a_crawl_that_has_just_begun_has_no_speed(new: Pages) -> None:
    found = first_crawl(new.app.state.api, ANYBODY, NOW - 9)
    assert found is not None
    assert found.speed is None


@pytest.mark.parametrize("phase", [SourcePhase.IDLE, SourcePhase.STOPPING])
def test_a_source_that_is_not_crawled_is_not_in_its_first_crawl(new: Pages, phase: SourcePhase) -> None:
    new.supervisor.known["new"] = replace(new.supervisor.known["new"], phase=phase)
    assert first_crawl(new.app.state.api, ANYBODY, NOW) is None


def test_a_crawl_that_waits_for_a_site_says_so_and_not_how_long_the_rest_takes(new: Pages) -> None:
    before = document_fromstring(new.ask("/").text).cssselect("#progress")[0].text_content()
    new.supervisor.known["new"] = replace(
        new.supervisor.known["new"], wait=SiteWait("h.test", "refused", NOW + 60)
    )
    found = first_crawl(new.app.state.api, ANYBODY, NOW)
    assert found is not None
    assert found.is_waiting
    assert document_fromstring(new.ask("/").text).cssselect("#progress")[0].text_content() != before


def test_a_later_crawl_is_not_the_first(new: Pages) -> None:
    new.supervisor.known["site"] = replace(new.supervisor.known["new"], name="site")
    found = first_crawl(new.app.state.api, ANYBODY, NOW)
    assert found is not None
    assert found.sources == 1


def test_a_silent_server_is_said_where_nothing_else_is_crawled(new: Pages) -> None:
    known = new.supervisor.known
    known["mute"] = SourceState("mute", SourcePhase.RUNNING, "1", {"queued": 1}, begun=NOW - 40)
    found = first_crawl(new.app.state.api, ANYBODY, NOW)
    assert found is not None
    assert (found.sources, found.waiting, found.is_silent) == (1, 758, False)
    del known["new"]
    early, late = (first_crawl(new.app.state.api, ANYBODY, now) for now in (NOW - 20, NOW))
    assert early is not None
    assert late is not None
    assert (early.is_silent, late.is_silent, late.sources) == (False, True, 1)
    start, results = (document_fromstring(new.ask(path).text) for path in ("/", "/?q=heron"))
    assert start.cssselect("#progress")[0].get("hx-trigger")
    assert results.cssselect(".hit")
    assert not results.cssselect("#progress"), "results are complete as far as anybody can tell"


def test_a_visitor_hears_of_sources_that_exist_for_the_visitor_only(new: Pages) -> None:
    assert first_crawl(new.app.state.api, replace(ANYBODY, sources=("site",)), NOW) is None


def test_the_page_shows_results_and_progress_until_the_crawl_has_ended(new: Pages) -> None:
    for path in ("/", "/?q=heron", "/progress"):
        (line,) = document_fromstring(new.ask(path).text).cssselect("#progress")
        assert "758" in line.text_content()
        assert line.get("hx-trigger")
    assert document_fromstring(new.ask("/?q=heron").text).cssselect(".hit")
    del new.supervisor.known["new"]
    (line,) = document_fromstring(new.ask("/progress").text).cssselect("#progress")
    assert not line.get("hx-trigger")
