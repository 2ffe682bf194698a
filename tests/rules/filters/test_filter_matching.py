"""Tests of a text that rules are made of, one by one and many at once."""

from __future__ import annotations

import pytest

from ultracrawl.rules.filters.matching import By, Match, any_of

MATCHES = [
    Match("url", By.IS, "http://a.example/is"),
    Match("url", By.CONTAINS, "/inside/"),
    Match("url", By.BEGINS_WITH, "http://begin.example/"),
    Match("url", By.ENDS_WITH, ".zip"),
    Match("url", By.REGEX, ".*/[0-9]+/"),
]


@pytest.mark.parametrize(
    ("value", "by"),
    [
        ("http://a.example/is", By.IS),
        ("http://a.example/is/not", None),
        ("http://a.example/inside/x", By.CONTAINS),
        ("http://a.example/inside", None),
        ("http://begin.example/x", By.BEGINS_WITH),
        ("http://not.begin.example/x", None),
        ("http://a.example/x.zip", By.ENDS_WITH),
        ("http://a.example/x.zip?y", None),
        ("http://a.example/12/", By.REGEX),
        ("http://a.example/12/x", None),
        ("", None),
    ],
)
def test_each_kind_matches_its_own(value: str, by: By | None) -> None:
    assert [match.by for match in MATCHES if match.compile()(value)] == ([by] if by else [])
    assert bool(any_of(MATCHES)(value)) is bool(by)
    for match in MATCHES:
        assert bool(any_of([match])(value)) is (match.by is by), "one alone is as one of many"


def test_without_a_line_nothing_matches() -> None:
    assert not any_of([])("")
    assert not any_of([])("http://a.example/")
