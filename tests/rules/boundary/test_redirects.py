"""Redirects, by the table of Ultra Search 9.6."""

from __future__ import annotations

import pytest

from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.redirects import Redirect, RedirectPolicy
from ultracrawl.rules.boundary.rules import BoundaryRules, CrawlMode, DomainRule, Kind

A, A2, OUT = "http://www.a.example/1", "http://www.a.example/2", "http://out.example/"
BOUNDARY = Boundary(BoundaryRules(domains=(DomainRule(Kind.SUFFIX, "a.example"),)))
NO_DOMAIN = "no include domain matches"

TABLE = [
    ("ultra_search_84 302 out", 302, OUT, True, 954, A),
    ("ultra_search_84 307 out", 307, OUT, True, 954, A),
    ("303 out", 303, OUT, True, 954, A),
    ("ultra_search_85 301 out", 301, OUT, False, 954, ""),
    ("308 out", 308, OUT, False, 954, ""),
    ("300 out", 300, OUT, False, 954, ""),
    ("ultra_search_86 refresh out", 0, OUT, False, 953, ""),
    ("ultra_search_87 301 in", 301, A2, True, 954, A2),
    ("308 in", 308, A2, True, 954, A2),
    ("302 in", 302, A2, True, 954, A),
    ("ultra_search_87 refresh in", 0, A2, True, 953, A2),
    ("no Location", 301, None, False, 1003, ""),
    ("bad Location", 302, "", False, 1004, ""),
    ("to itself", 302, A, False, 1005, ""),
    ("reload", 0, A, False, 200, ""),
    ("p3 302 to ftp", 302, "ftp://www.a.example/", False, 954, ""),
    ("p3 302 to file", 302, "file:///etc/passwd", False, 954, ""),
]


@pytest.mark.parametrize(
    ("status", "target", "accept", "code", "shown"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_redirect_table(status: int, target: str | None, accept: bool, code: int, shown: str) -> None:
    answer = RedirectPolicy().decide(Redirect(status, A, target), BOUNDARY)
    assert (answer.accept, answer.code, answer.display_url) == (accept, code, shown)
    assert answer.message == (30040 if not accept and code in (953, 954) else 0)


def test_refusal_names_the_rule_and_both_urls() -> None:
    decision = RedirectPolicy().decide(Redirect(301, A, OUT), BOUNDARY).decision
    assert decision.rule == NO_DOMAIN
    assert decision.reason == f"{A} --[301]--> {OUT}"


@pytest.mark.parametrize("status", [302, 303, 307])
def test_strict_policy_checks_temporary_redirects(status: int) -> None:
    answer = RedirectPolicy(strict=True).decide(Redirect(status, A, OUT), BOUNDARY)
    assert (answer.accept, answer.code, answer.message) == (False, 954, 30040)


def test_hops_are_counted() -> None:
    policy = RedirectPolicy(max_hops=10)
    assert policy.decide(Redirect(301, A, A2, hops=9), BOUNDARY).accept
    answer = policy.decide(Redirect(301, A, A2, hops=10), BOUNDARY)
    assert (answer.accept, answer.code) == (False, 1005)
    assert not RedirectPolicy(max_hops=0).decide(Redirect(302, A, A2), BOUNDARY).accept


def test_display_url_fixed_by_an_earlier_hop_stays() -> None:
    first = RedirectPolicy().decide(Redirect(302, A, A2), BOUNDARY)
    second = RedirectPolicy().decide(
        Redirect(301, A2, A + "/3", display_url=first.display_url, hops=1), BOUNDARY
    )
    assert second.display_url == A


def test_fast_fwdredirects_holds_for_every_kind() -> None:
    boundary = Boundary(BoundaryRules(mode=CrawlMode(fwdredirects=False)))
    for status in (0, 301, 302):
        answer = RedirectPolicy().decide(Redirect(status, A, OUT), boundary)
        assert (answer.accept, answer.decision.rule) == (False, "fwdredirects no")
        assert RedirectPolicy().decide(Redirect(status, A, A2), boundary).accept
