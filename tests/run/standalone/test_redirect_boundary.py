"""Redirects of spiders without a definition: 301, 308 and META refresh inside the boundary alone, 302 anywhere."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from run.standalone.chain import Chain, page
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.spider import DefaultSpider
from scrapy.utils.test import get_crawler
from support.named import named

from ultracrawl.run.standalone.definition import definition_of

INSIDE, OUTSIDE = "http://h.example/there", "http://other.example/there"
BOUNDARY: dict[str, Any] = {"uris": {"exclude": [{"suffix": "/closed"}]}}


class WithoutStart(Spider):
    name = "without"


def redirecting(status: int, location: str) -> Any:
    def server(request: Request) -> Response:
        if not request.url.endswith("/from"):
            return page(request)
        if status:
            return page(request, "", status, Location=location)
        return page(
            request, f'<html><head><meta http-equiv="refresh" content="0; url={location}"></head></html>'
        )

    return server


def crawl(server: Any, request: Request | str = "http://h.example/from", **settings: Any) -> Response | None:
    chain = Chain(server, "RedirectBoundaryMiddleware", **{"ULTRACRAWL_BOUNDARY": BOUNDARY, **settings})
    (answer,) = chain.crawl(request)
    return answer


@pytest.mark.parametrize(
    ("status", "location", "followed"),
    [
        (301, INSIDE, True),
        (301, OUTSIDE, False),
        (308, OUTSIDE, False),
        (302, OUTSIDE, True),
        (303, OUTSIDE, True),
        (307, OUTSIDE, True),
        (301, "http://h.example/closed", False),
        (302, "http://h.example/closed", True),
        (301, "/there", True),
        (0, INSIDE, True),
        (0, OUTSIDE, False),
    ],
)
def test_a_redirect_is_followed_or_refused_by_its_kind(status: int, location: str, followed: bool) -> None:
    answer = crawl(redirecting(status, location))
    assert (answer is not None) is followed
    if answer is not None:
        assert answer.url.endswith(location.rpartition("/")[2])


def test_a_refusal_is_counted_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    chain = Chain(redirecting(301, OUTSIDE), "RedirectBoundaryMiddleware", ULTRACRAWL_BOUNDARY=BOUNDARY)
    with caplog.at_level(logging.INFO):
        chain.crawl("http://h.example/from")
    assert chain.stats["ultracrawl/redirects_refused"] == 1
    assert f"http://h.example/from --[301]--> {OUTSIDE}" in caplog.text


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://h.example/from", meta={"dont_redirect": True}),
        Request("http://h.example/from", meta={"handle_httpstatus_list": [301]}),
        Request("http://h.example/from", meta={"handle_httpstatus_all": True}),
    ],
)
def test_who_wants_to_see_redirects_sees_them(request_: Request) -> None:
    answer = crawl(redirecting(301, OUTSIDE), request_)
    assert answer is not None
    assert answer.status == 301


def test_who_follows_no_redirects_sees_them() -> None:
    answer = crawl(redirecting(301, OUTSIDE), REDIRECT_ENABLED=False)
    assert answer is not None
    assert answer.status == 301


def test_commands_without_a_spider_have_no_boundary(caplog: pytest.LogCaptureFixture) -> None:
    settings = {"ULTRACRAWL_BOUNDARY": BOUNDARY}
    rules = definition_of(get_crawler(DefaultSpider, settings)).rules
    assert rules.boundary.rejects("http://anywhere.example/closed") is None
    with pytest.raises(NotConfigured):
        definition_of(get_crawler(WithoutStart, settings))
    assert "start_urls" in named(caplog.text)


def test_robots_txt_may_lead_out() -> None:
    request = Request("http://h.example/from", callback=NO_CALLBACK, meta={"dont_obey_robotstxt": True})
    answer = crawl(redirecting(301, OUTSIDE), request)
    assert answer is not None
    assert answer.url == OUTSIDE


def test_links_of_a_page_that_a_refresh_led_to_are_no_redirects() -> None:
    seen = crawl(redirecting(0, INSIDE))
    assert seen is not None
    assert seen.request is None
    chain = Chain(redirecting(0, INSIDE), "RedirectBoundaryMiddleware", ULTRACRAWL_BOUNDARY=BOUNDARY)
    chain.crawl("http://h.example/from")
    link = Request(OUTSIDE, meta=dict(chain.asked[-1].meta))
    assert link.meta["redirect_reasons"] == ["meta refresh"]
    assert crawl(redirecting(0, INSIDE), link) is not None


def test_hosts_are_those_that_the_boundary_names() -> None:
    boundary = {"domains": {"include": [".other.example", "other.example"]}}
    assert crawl(redirecting(301, OUTSIDE), ULTRACRAWL_BOUNDARY=boundary) is not None
    assert crawl(redirecting(301, INSIDE), ULTRACRAWL_BOUNDARY=boundary) is None


def test_it_says_what_is_missing_and_what_cannot_be_done(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        crawl(redirecting(200, ""), ULTRACRAWL_BOUNDARY=None)
        crawl(redirecting(200, ""), ULTRACRAWL_BOUNDARY={"domains": {"include": [{"mask": "10.0.0.0/8"}]}})
    missing, addresses = [
        one.getMessage() for one in caplog.records if "ULTRACRAWL_BOUNDARY" in one.getMessage()
    ]
    assert missing != addresses
