"""A search that is ended, or gets no place, has status 503 and a reason: in the API, on the page, for a public key."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from lxml.html import document_fromstring
from support import clock
from support.crawled import CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import Pages
from support.until import PATIENCE, until

from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.searching import places
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.system.wall_guard import wall_limit

if TYPE_CHECKING:
    from httpx import Response

Ask = Callable[..., "Response"]
KEY = "key"
"""A public key in a path."""


@pytest.fixture
def public(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Pages:
    workspace.define(f"{url}/", public="confirmed")
    crawled_projects.crawl(workspace, site)
    return Pages(workspace)


def asked(pages: Pages, path: str, **options: Any) -> Response:
    """Ask by the token of a reader, or by a public key if the path ends in one."""
    if path.endswith(f"{KEY}="):
        path += TokenStore.of_project(pages.project).create_token("docs", None, sites=["https://a.example"])
        options["signed_in"] = False
    return pages.ask(path, **options)


@pytest.fixture
def past_its_time(public: Pages) -> Ask:
    """Ask with a search process that stands still until the time of the search is over."""
    searching, numbers = public.app.state.api.searching, itertools.count()

    def ask(path: str, **options: Any) -> Response:
        assert public.ask(f"/api/v1/search?q=heron+OR+{next(numbers)}").status_code == 200
        (pid,) = searching.pids()
        os.kill(pid, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(asked, public, path, **options)
            until(lambda: searching._processes._busy)
            clock.leap(wall_limit(SearchingOptions().timeout) + 1)
            try:
                return answer.result(PATIENCE)
            finally:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    return ask


@pytest.fixture
def without_a_place(public: Pages, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask when as many searches wait as may wait."""
    monkeypatch.setattr(places, "_MAX_WAITING", 0)
    return lambda path, **options: asked(public, path, **options)


@pytest.fixture(params=["past_its_time", "without_a_place"])
def refused(request: pytest.FixtureRequest) -> Ask:
    found: Ask = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize(
    "path", ["/api/v1/search?q=egret", "/api/v1/suggest?q=egr", f"/api/v1/search?q=egret&{KEY}="]
)
def test_the_api_says_why(refused: Ask, path: str) -> None:
    answer = refused(path)
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.json()["detail"]


def test_the_page_says_why_and_keeps_the_query(refused: Ask) -> None:
    answer = refused("/?q=egret")
    assert answer.status_code == 503
    page = document_fromstring(answer.text)
    assert page.cssselect("[role=alert]")[0].text_content().strip()
    assert page.cssselect("#query")[0].get("value") == "egret"
    part = refused("/?q=white", headers={"HX-Request": "true", "Accept-Language": "de"})
    assert (part.status_code, "<html" in part.text) == (503, False)
    german = document_fromstring(part.text).cssselect("#results [role=alert]")[0].text_content()
    assert german not in answer.text


def test_who_gets_no_place_gets_a_retry_time(without_a_place: Ask) -> None:
    for path in ("/api/v1/search?q=egret", "/?q=egret", "/suggestions?q=egr"):
        answer = without_a_place(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    again = document_fromstring(without_a_place("/?q=egret").text).cssselect(".no-answer a")
    assert [one.get("href") for one in again] == ["/?q=egret"]


def test_the_next_search_is_answered(past_its_time: Ask, public: Pages) -> None:
    assert past_its_time("/?q=egret").status_code == 503
    assert "white" in public.ask("/?q=egret").text
