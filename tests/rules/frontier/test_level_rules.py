"""Onto which level a URL is put (FAST 5.14)."""

from __future__ import annotations

import pytest

from ultracrawl.rules.boundary.matcher import DomainTable, UriTable
from ultracrawl.rules.boundary.rules import DomainRule, Kind, UriRule
from ultracrawl.rules.frontier.level_rules import LevelRule, LevelRules
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY

SEED = "http://start.example/"


def hosts(kind: Kind, text: str) -> DomainTable:
    return DomainTable([DomainRule(kind, text)])


def uris(kind: Kind, text: str) -> UriTable:
    return UriTable([UriRule(kind, text)], DEFAULT_POLICY)


RULES = [
    LevelRule(3, hosts=hosts(Kind.SUFFIX, "a.example")),
    LevelRule(1, uris=uris(Kind.PREFIX, "http://b.example/news/")),
    LevelRule(2, hosts(Kind.EXACT, "b.example"), uris(Kind.SUFFIX, ".pdf")),
    LevelRule(9, uris=uris(Kind.PREFIX, "http://far.example/")),
]


@pytest.mark.parametrize(
    ("url", "level"),
    [
        (SEED, 2),
        ("http://start.example/other", 4),
        ("http://www.a.example/", 3),
        ("http://www.a.example/x.pdf", 2),
        ("http://b.example/", 2),
        ("http://b.example/news/x", 1),
        ("http://b.example/news/x.pdf", 1),
        ("http://far.example/", 5),
        ("http://c.example/", 4),
    ],
)
def test_fast_148_to_150_the_first_level_that_names_a_url(url: str, level: int) -> None:
    assert LevelRules(5, default=4, start=2, rules=RULES, seeds=[SEED]).of(url) == level


@pytest.mark.parametrize(("levels", "given", "level"), [(3, 9, 3), (3, 0, 1), (1, 7, 1)])
def test_levels_outside_are_the_nearest(levels: int, given: int, level: int) -> None:
    rules = LevelRules(levels, default=given, start=given, seeds=[SEED])
    assert (rules.of("http://c.example/"), rules.of(SEED)) == (level, level)
