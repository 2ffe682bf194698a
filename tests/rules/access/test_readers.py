"""Readers by the path of a URL: which rule counts, and what no spelling of a URL gets around."""

from __future__ import annotations

import pytest

from ultracrawl.rules.access.readers import NOBODY, readers_by_path

RULES = {
    "/hr/": ["hr"],
    "/hr/open/": [],
    "*.pdf": ["staff", "hr"],
    "/board/*/minutes": ["board"],
    "https://north.example/": ["north"],
    "/a b/": ["blank"],
}


@pytest.mark.parametrize(
    ("url", "readers"),
    [
        ("http://a.example/", ("all",)), ("http://a.example", ("all",)), ("http://a.example/hr", ("all",)),
        ("http://a.example/hr/", ("hr",)), ("http://a.example/hr/pay", ("hr",)), ("http://a.example/x/hr/", ("all",)),
        ("http://a.example/hr/open/x", ()), ("http://a.example/x.pdf", ("staff", "hr")),
        ("http://a.example/board/2026/minutes/1", ("board",)), ("http://a.example/board/minutes", ("all",)),
        ("https://north.example/x", ("north",)), ("https://north.example:8443/x", ("all",)),
        ("http://north.example/x", ("all",)), ("https://north.example.evil/x", ("all",)),
        ("http://a.example/?q=/hr/", ("all",)), ("http://a.example/a%20b/x", ("blank",)),
        # Other spellings of the same path
        ("http://a.example/HR/pay", ("hr",)), ("http://a.example/%68r/pay", ("hr",)),
        ("http://a.example//hr//pay", ("hr",)), ("http://a.example/hr%2Fpay", ("hr",)),
        ("HTTPS://NORTH.example/x", ("north",)),
    ],
)  # fmt: skip
def test_the_longest_rule_that_fits_counts(url: str, readers: tuple[str, ...]) -> None:
    assert readers_by_path(RULES, ["all"], [url]) == readers


@pytest.mark.parametrize(
    ("urls", "readers"),
    [
        (("/hr/", "/hr/"), ("hr",)), (("/hr/", "/x.pdf"), ("hr",)), (("/hr/", "/board/1/minutes"), (NOBODY,)),
        (("/hr/open/", "/hr/"), ("hr",)), (("/hr/open/", "/hr/open/2"), ()), (("/", "/hr/"), (NOBODY,)),
    ],
)  # fmt: skip
def test_with_several_urls_only_those_see_it_who_may_by_each(urls: tuple[str, str], readers: object) -> None:
    assert readers_by_path(RULES, ["all"], [f"http://a.example{path}" for path in urls]) == readers


def test_without_a_default_everybody_sees_the_rest() -> None:
    assert readers_by_path(RULES, (), ["http://a.example/"]) == ()
    assert readers_by_path(RULES, (), ["http://a.example/", "http://a.example/hr/"]) == ("hr",)
