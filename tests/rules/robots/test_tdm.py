"""Which URLs a tdmrep.json reserves (W3C TDM Reservation Protocol, section 6.2)."""

import json
from typing import Any

import pytest

from ultracrawl.rules.robots.tdm import TdmRules

EXAMPLE = [
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": "https://provider.example/p.json"},
    {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
]
"""The example of the specification."""


def reserved(content: Any, *paths: str) -> list[bool]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    rules = TdmRules.parse(body)
    return [rules.reserves(f"http://provider.example{path}") for path in paths]


def test_the_example_of_the_specification() -> None:
    paths = ("/directory-a/x.pdf", "/directory-b/html/", "/directory-b/images/a.jpg", "/directory-a", "/")
    assert reserved(EXAMPLE, *paths) == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("location", "path", "matches"),
    [
        ("/", "/any/page?x=1", True),
        ("/a/*/z", "/a/b/c/z", True),
        ("/exactly$", "/exactly", True),
        ("/exactly$", "/exactly/not", False),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/Case", "/case", False),
        ("/\u00fcber", "/%C3%BCber", True),
        ("/a%2Fb", "/a/b", False),
        ("*.pdf", "/x/y.pdf", True),
        (" /blank ", "/blank", True),
        ("", "/", False),
    ],
)
def test_locations_are_read_like_paths_of_robots_txt(location: str, path: str, matches: bool) -> None:
    assert reserved([{"location": location, "tdm-reservation": 1}], path) == [matches]


def test_the_first_rule_that_matches_decides() -> None:
    rules = [("/a/open/", 0), ("/a/", 1), ("/a/open/", 1), ("/b/", 1), ("/b/open/", 0)]
    content = [{"location": location, "tdm-reservation": value} for location, value in rules]
    assert reserved(content, "/a/open/x", "/a/x", "/b/open/x", "/c") == [False, True, True, False]


@pytest.mark.parametrize("value", [1, "1", " 1 "])
def test_a_number_may_be_written_as_text(value: Any) -> None:
    assert reserved([{"location": "/", "tdm-reservation": value}], "/") == [True]


@pytest.mark.parametrize("value", [2, "yes", True, None, [1], {"a": 1}, 1.5])
def test_entries_with_another_value_are_skipped(value: Any) -> None:
    rules = [{"location": "/", "tdm-reservation": value}, {"location": "/a", "tdm-reservation": 1}]
    assert reserved(rules, "/", "/a") == [False, True]


def test_one_rule_without_brackets_is_read() -> None:
    assert reserved({"location": "/", "tdm-reservation": 1}, "/") == [True]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[" * 100_000,
        b"\xff\xfe",
        b"7",
        b"null",
        b'["/"]',
        b'[{"location": 5, "tdm-reservation": 1}]',
    ],
)
def test_what_is_no_such_file_reserves_nothing(body: bytes) -> None:
    assert reserved(body, "/") == [False]
