"""Rewriting of requests of spiders without a definition: rules, steps of w3lib, a rewriter; once, and without loops."""

from __future__ import annotations

import logging
from logging import Logger
from typing import Any

import pytest
from run.standalone.chain import Chain, page
from scrapy import Request
from scrapy.http import Response
from support.sentences import sentence

from ultracrawl.rules.boundary import Candidate, UrlRewriter


class Mirror(UrlRewriter):
    """Fetches from a mirror what is shown under its own URL."""

    told: list[str] = []  # noqa: RUF012 - what one object of the class did

    def open(self, log: Logger) -> None:
        self.told.append("open")

    def rewrite(self, candidate: Candidate) -> bool:
        url = candidate.candidate_url
        if "error" in url:
            raise LookupError("no such page")
        candidate.discard = "/print/" in url
        candidate.access_url = url.replace("//www.", "//mirror.")
        return "//www." in url

    def close(self) -> None:
        self.told.append("close")


class Unopened(UrlRewriter):
    def open(self, log: Logger) -> None:
        raise OSError("no file")


MIRROR = f"{__name__}.Mirror"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "rewriters_of_a_test", sys.modules[__name__])
    Mirror.told.clear()


def crawl(
    *requests: Request | str, answer: Any = page, **settings: Any
) -> tuple[list[Response | None], Chain]:
    chain = Chain(
        answer, "RewriterMiddleware", **{f"ULTRACRAWL_{name}": value for name, value in settings.items()}
    )
    return chain.crawl(*requests), chain


def asked(chain: Chain) -> list[str]:
    return [request.url for request in chain.asked]


def test_the_server_sees_the_rewritten_url_and_so_does_the_spider() -> None:
    (answer,), chain = crawl("http://h.example/old/a", REWRITE_RULES=["@/old/@/new/@"])
    assert asked(chain) == ["http://h.example/new/a"]
    assert answer is not None
    assert answer.url == "http://h.example/new/a"
    assert chain.stats["ultracrawl/rewritten"] == 1


def test_a_rule_that_would_never_end_is_applied_once() -> None:
    _, chain = crawl("http://h.example/a", REWRITE_RULES=["@/a@/aa@"])
    assert asked(chain) == ["http://h.example/aa"]


def test_a_request_keeps_all_but_its_url() -> None:
    def parse(response: Response) -> None: ...

    request = Request(
        "http://h.example/old",
        parse,
        "PUT",
        {"X-A": "1"},
        b"body",
        meta={"m": 1},
        priority=3,
        cb_kwargs={"k": 2},
    )
    _, chain = crawl(request, REWRITE_RULES=["@old@new@"])
    (made,) = chain.asked
    assert (made.callback, made.method, made.body, made.priority) == (parse, "PUT", b"body", 3)
    assert (made.headers["X-A"], made.meta["m"], made.cb_kwargs, made.dont_filter) == (
        b"1",
        1,
        {"k": 2},
        False,
    )


def test_what_is_the_same_to_the_dupe_filter_passes_it() -> None:
    _, chain = crawl("http://h.example/?b=1&a=2", REWRITE_RULES=["canonicalize_url"])
    assert asked(chain) == ["http://h.example/?a=2&b=1"]
    assert chain.asked[0].dont_filter


def test_links_made_with_the_meta_of_an_answer_and_redirect_targets_are_rewritten() -> None:
    _, chain = crawl("http://h.example/old/a", REWRITE_RULES=["@/old/@/new/@"])
    link = Request("http://h.example/old/b", meta=dict(chain.asked[0].meta))

    def moved(request: Request) -> Response:
        return page(request, "", 301, Location="/old/c") if request.url.endswith("b") else page(request)

    _, chain = crawl(link, answer=moved, REWRITE_RULES=["@/old/@/new/@"])
    assert asked(chain) == ["http://h.example/new/b", "http://h.example/new/c"]


@pytest.mark.parametrize("url", ["http://h.example/robots.txt", "data:,old"])
def test_some_urls_are_never_rewritten(url: str) -> None:
    _, chain = crawl(url, REWRITE_RULES=["@robots|old@new@"])
    assert asked(chain) == [url]


def test_a_rewriter_has_pages_fetched_elsewhere_and_shown_as_they_were() -> None:
    answers, chain = crawl(
        "http://www.example.com/a",
        "http://h.example/b",
        "http://h.example/print/c",
        "http://h.example/error",
        REWRITER="rewriters_of_a_test.Mirror",
    )
    assert [answer is not None for answer in answers] == [True, True, False, False]
    assert sorted(asked(chain)) == ["http://h.example/b", "http://mirror.example.com/a"]
    shown = {request.url: request.meta.get("display_url") for request in chain.asked}
    assert shown == {"http://mirror.example.com/a": "http://www.example.com/a", "http://h.example/b": None}
    assert (chain.stats["ultracrawl/rewriter_dropped"], chain.stats["ultracrawl/rewriter_error"]) == (1, 1)
    assert Mirror.told == ["open", "close"]


def test_rules_come_before_the_rewriter() -> None:
    _, chain = crawl(
        "http://www.example.com/p/c", REWRITE_RULES=["@/p/@/q/@"], REWRITER="rewriters_of_a_test.Mirror"
    )
    assert asked(chain) == ["http://mirror.example.com/q/c"]


def test_what_becomes_no_url_is_dropped() -> None:
    (answer,), chain = crawl("http://h.example/a", REWRITE_RULES=["@^http.*@nothing@"])
    assert (answer, asked(chain)) == (None, [])
    assert chain.stats["ultracrawl/rewriter_error"] == 1


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, "neither ULTRACRAWL_REWRITE_RULES nor ULTRACRAWL_REWRITER is set"),
        (
            {"REWRITER": "no.such.Thing"},
            "not crawled: settings - ULTRACRAWL_REWRITER - `no.such.Thing` cannot be loaded",
        ),
        (
            {"REWRITER": "rewriters_of_a_test.Chain"},
            sentence("scrapy.no_subclass_ultracrawl_rules_boundary"),
        ),
        (
            {"REWRITER": "rewriters_of_a_test.Unopened"},
            "the rewriter Unopened failed in open: OSError: no file",
        ),
    ],
)
def test_it_says_what_is_wrong(settings: dict[str, str], line: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        crawl("http://h.example/a", **settings)
    assert line in caplog.text
    assert "Traceback" not in caplog.text
