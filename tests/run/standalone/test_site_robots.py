"""robots.txt for spiders without a definition: asked once for an origin, judged by RFC 9309, counted as by Scrapy."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from run.standalone.chain import Chain, page
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from support.sentences import sentence

from ultracrawl.rules.robots.policy import RETRY_INTERVAL, RobotsPolicy
from ultracrawl.run.standalone.site_robots import SiteRobots, robot_name

RULES = "User-agent: *\nDisallow: /private\n\nUser-agent: news robot\nDisallow: /a\n"


def robots(text: str = RULES, status: int = 200) -> Any:
    def answer(request: Request) -> Response:
        return page(request, text if request.url.endswith("/robots.txt") else "", status)

    return answer


def chain(server: Any, **settings: Any) -> Chain:
    return Chain(server, "RobotsMiddleware", RETRY_ENABLED=False, **settings)


def paths(chain: Chain) -> list[str]:
    return [request.url.removeprefix("http://h.example") for request in chain.asked]


def test_first_requests_wait_for_one_robots_txt() -> None:
    asked = asyncio.Event()

    async def server(request: Request) -> Response:
        if request.url.endswith("/robots.txt"):
            for _ in range(20):  # all others have come by then
                await asyncio.sleep(0)
            asked.set()
            return page(request, RULES)
        assert asked.is_set(), "before the rules were known"
        return page(request)

    crawl = chain(server)
    answers = crawl.crawl(*(f"http://h.example/{path}" for path in ("a", "b", "private", "private/x", "c")))
    assert [answer is not None for answer in answers] == [True, True, False, False, True]
    assert sorted(paths(crawl)) == ["/a", "/b", "/c", "/robots.txt"]
    assert {name: count for name, count in crawl.stats.items() if name.startswith("robotstxt/")} == {
        "robotstxt/request_count": 1,
        "robotstxt/response_count": 1,
        "robotstxt/response_status_count/200": 1,
        "robotstxt/forbidden": 2,
    }


def test_each_origin_has_rules_of_its_own() -> None:
    crawl = chain(lambda request: page(request, RULES if "//h." in request.url else ""))
    answers = crawl.crawl(
        "http://h.example/private", "http://h.example:8080/private", "https://i.example/private"
    )
    assert [answer is not None for answer in answers] == [False, False, True]


@pytest.mark.parametrize(
    ("status", "fetched"), [(404, True), (403, True), (500, False), (429, False), (200, True)]
)
def test_the_status_of_robots_txt_decides(status: int, fetched: bool) -> None:
    def server(request: Request) -> Response:
        return page(request, "", status if request.url.endswith("/robots.txt") else 200)

    (answer,) = chain(server).crawl("http://h.example/a")
    assert (answer is not None) is fetched


def test_no_answer_forbids() -> None:
    def server(request: Request) -> Response:
        if request.url.endswith("/robots.txt"):
            raise DownloadTimeoutError("slow")
        return page(request)

    crawl = chain(server)
    assert crawl.crawl("http://h.example/a") == [None]
    assert crawl.stats["robotstxt/unavailable"] == 1


def test_redirects_of_robots_txt_are_followed_to_other_hosts_and_not_for_ever() -> None:
    def server(request: Request) -> Response:
        if request.url == "http://h.example/robots.txt":
            return page(request, "", 301, Location="http://i.example/rules")
        if request.url == "http://i.example/rules":
            return page(request, RULES)
        if request.url.startswith("http://loop.example/robots.txt"):
            return page(request, "", 302, Location=request.url + "x")
        return page(request)

    crawl = chain(server)
    assert [
        answer is None for answer in crawl.crawl("http://h.example/private", "http://loop.example/private")
    ] == [
        True,
        False,
    ]
    assert sum("loop.example/robots" in request.url for request in crawl.asked) == 6


@pytest.mark.parametrize(
    ("settings", "fetched"),
    [
        ({"USER_AGENT": "News Robot/2.0 (+https://h.example)"}, False),
        ({"USER_AGENT": "Other/1.0", "ROBOTSTXT_USER_AGENT": "news robot"}, False),
        ({"USER_AGENT": "Other/1.0"}, True),
    ],
)
def test_the_name_is_that_of_the_settings(settings: dict[str, str], fetched: bool) -> None:
    (answer,) = chain(robots(), **settings).crawl("http://h.example/a")
    assert (answer is not None) is fetched


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://h.example/private", meta={"dont_obey_robotstxt": True}),
        Request("data:,private"),
        Request("http://h.example/robots.txt"),
    ],
)
def test_what_scrapy_lets_pass_passes(request_: Request) -> None:
    crawl = chain(robots())
    (answer,) = crawl.crawl(request_)
    assert answer is not None
    assert len(crawl.asked) == 1


def test_any_spelling_of_a_forbidden_url_is_forbidden() -> None:
    assert chain(robots()).crawl("http://h.example/%70rivate", "http://H.EXAMPLE/a/../private") == [
        None,
        None,
    ]


def test_scrapys_own_robots_txt_beside_ours_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        chain(robots(), ROBOTSTXT_OBEY=True).crawl("http://h.example/a")
    assert [record.message for record in caplog.records if "ROBOTSTXT_OBEY" in record.message] == [
        sentence("settings.robots_twice")
    ]


def test_rules_are_asked_for_again_in_time_and_stay_if_they_cannot_be_had() -> None:
    now, status, asked = [0.0], [200], []

    async def download(request: Request) -> Response:
        asked.append(request.url)
        return page(request, RULES, status[0])

    class Stats:
        def inc_value(self, key: str) -> None: ...

    async def blocked(url: str) -> bool:
        rules = known.known(url) or await known.fetch(url)
        return rules.blocks(url)

    async def crawl() -> None:
        assert await blocked("http://h.example/private")
        now[0] += 86_399
        assert await blocked("http://h.example/private")
        assert len(asked) == 1
        now[0] += 1
        status[0] = 503
        assert not await blocked("http://h.example/a")
        assert len(asked) == 2
        assert await blocked("http://i.example/a")
        now[0] += RETRY_INTERVAL
        status[0] = 200
        assert not await blocked("http://i.example/a")

    known = SiteRobots(RobotsPolicy(), download, Stats(), lambda: now[0])  # type: ignore[arg-type]
    asyncio.run(crawl())


@pytest.mark.parametrize(
    ("agent", "name"), [("Scrapy/2.19 (+https://scrapy.org)", "Scrapy"), ("a b", "a b"), ("/odd", "/odd")]
)
def test_the_name_of_a_robot_has_no_version(agent: str, name: str) -> None:
    assert robot_name(agent) == name
