"""When links of a feed are over."""

from __future__ import annotations

import pytest

from ultracrawl.rules.recrawl.feed_links import FeedLink, FeedRule, renewed

DAY = 86_400.0


def over(links: list[FeedLink], rule: FeedRule, now: float = 100.0) -> set[int]:
    return {link.key for link in rule.expire(links, now) if link.expired}


def test_fast_28_the_third_link_pushes_out_the_first() -> None:
    rule = FeedRule(expires=True, max_links=2)
    links: list[FeedLink] = []
    for key in (1, 2, 3):
        links = rule.expire(renewed(links, {key: 0.0}, [key], float(key)), float(key))
    assert {link.key: link.expired for link in links} == {1: True, 2: False, 3: False}


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({1: 0.0, 2: 0.0, 3: 0.0}, {3}),
        ({1: 5.0, 2: 9.0, 3: 7.0}, {1}),
        ({1: 0.0, 2: 9.0, 3: 7.0}, {3}),
    ],
    ids=["feeds put the newest first", "dates count", "no date counts as today"],
)
def test_links_that_came_together_are_ordered(named: dict[int, float], expected: set[int]) -> None:
    assert over(renewed([], named, named, 50.0), FeedRule(expires=True, max_links=2)) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (FeedRule(expires=True, max_age=DAY), {1}),
        (FeedRule(expires=True, max_age=None), set()),
        (FeedRule(expires=False, max_age=DAY, max_links=1), set()),
        (FeedRule(expires=True, max_age=DAY, max_links=1), {1}),
    ],
    ids=["fast_212", "fast_212_none", "fast_211_no", "what is over by age does not count again"],
)
def test_age_counts_from_the_first_time(rule: FeedRule, expected: set[int]) -> None:
    links = [FeedLink(1, 0.0), FeedLink(2, DAY)]
    assert over(links, rule, DAY * 1.5) == expected


def test_renewing_keeps_when_a_link_came_and_what_was_over() -> None:
    known = [FeedLink(1, 5.0, expired=True), FeedLink(2, 6.0, only=True)]
    links = {link.key: link for link in renewed(known, {1: 0.0, 2: 0.0, 3: 8.0}, [3], 9.0)}
    assert links == {1: known[0], 2: known[1], 3: FeedLink(3, 9.0, 8.0, 2, only=True)}
