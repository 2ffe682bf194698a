"""Patterns of URLs: what differs between the pages of one generator is `*`."""

from __future__ import annotations

import pytest
import re2

from ultracrawl.rules.urls.patterns import pattern_expression, url_patterns

PATTERNS = {
    "http://h/": ["http://h"],
    "http://h/cal?month=2026-11": ["http://h/cal?month=*", "http://h/cal?*"],
    "http://h/cal?b=1&a=2&a=3&c": ["http://h/cal?a=*&b=*&c", "http://h/cal?*"],
    "http://h/2026/11/3/": ["http://h/#/#/#", "http://h/#/#/*", "http://h/#/*/*"],
    "http://h/shop/red/small": ["http://h/shop/red/small", "http://h/shop/red/*", "http://h/shop/*/*"],
    "http://h/page-12.html": ["http://h/page-#.html"],
    "http://h/s/9f8a7c6d5e/x": ["http://h/s/#/x", "http://h/s/#/*", "http://h/s/*/*"],
    "http://h/a/b/c/d/e/f": [
        "http://h/a/b/c/d/e/f",
        "http://h/a/b/c/d/*/*",
        "http://h/a/b/c/*/*/*",
        "http://h/a/b/**",
        "http://h/a/**",
    ],
    "http://h/x/a/b/a/b": ["http://h/**/a/**/a/**"],
}


@pytest.mark.parametrize(("url", "patterns"), PATTERNS.items(), ids=PATTERNS)
def test_a_url_has_patterns_from_the_narrowest_to_the_widest(url: str, patterns: list[str]) -> None:
    assert [one.text for one in url_patterns(url)] == patterns


@pytest.mark.parametrize("url", [url for url in PATTERNS if url != "http://h/"])
def test_no_pattern_is_that_of_a_site_and_each_has_an_expression_for_its_urls(url: str) -> None:
    for pattern, _ in url_patterns(url):
        assert pattern.strip("/*?") != "http://h"
        expression = re2.compile(pattern_expression(pattern))
        assert expression.fullmatch(url)
        assert not expression.fullmatch("http://h/about/us.html?x=1")


def test_an_expression_takes_the_names_of_a_query_in_any_order() -> None:
    expression = re2.compile(pattern_expression("http://h/shop?colour=*&size=*"))
    assert expression.fullmatch("http://h/shop?size=m&colour=red")
    assert not expression.fullmatch("http://h/shop?product=7")
    assert not expression.fullmatch("http://h/shop?size=m&product=7")
