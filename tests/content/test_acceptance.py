"""Which answers become pages, and what pages say about the index: the rules alone, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from ultracrawl.content.directives import parse_directives
from ultracrawl.model.page import RobotsDirectives
from ultracrawl.rules.acceptance import Acceptance, Accepted, Refusal
from ultracrawl.rules.robots.permission import (
    IndexPermission,
    Reservation,
    expiry,
    first_reserved,
    reservations_of,
    tdm_words,
)


def headers(**values: str | list[str]) -> Any:
    known = {
        name.lower().replace("_", "-"): [value] if isinstance(value, str) else value
        for name, value in values.items()
    }
    return lambda name: known.get(name.lower(), [])


HTML = ("text/html",)
PAGE = b"<!doctype html><p>words"
PDF = b"%PDF-1.4\0\0\0\1"


@pytest.mark.parametrize(
    ("options", "head", "length", "rule"),
    [
        pytest.param(
            {}, headers(content_type="video/mp4"), None, "types", id="fast_39-ends after the headers"
        ),
        pytest.param({}, headers(content_type="text/html"), None, "", id="wanted"),
        pytest.param({}, headers(content_type="text/css"), None, "", id="text may be anything"),
        pytest.param({}, headers(content_type="application/octet-stream"), None, "", id="generic"),
        pytest.param({}, headers(), None, "", id="none"),
        pytest.param(
            {"detect": True}, headers(content_type="video/mp4"), None, "", id="fast_40-detected later"
        ),
        pytest.param(
            {"follow_only": ["video/*"]}, headers(content_type="video/mp4"), None, "", id="followed"
        ),
        pytest.param(
            {"cut_off": 10, "truncate": False}, headers(content_type="text/html"), 11, "cut_off", id="fast_42"
        ),
        pytest.param(
            {"cut_off": 10, "truncate": False}, headers(content_type="text/html"), 10, "", id="fits"
        ),
        pytest.param({"cut_off": 10}, headers(content_type="text/html"), 11, "", id="truncated later"),
        pytest.param(
            {"exclude_headers": {"X-A": ["b+"]}},
            headers(x_a=["a", "bb"]),
            None,
            "exclude_headers X-A",
            id="fast_179",
        ),
    ],
)
def test_judged_by_the_head_alone(options: dict[str, Any], head: Any, length: int | None, rule: str) -> None:
    refusal = Acceptance(HTML, **options).refuses_head(head, length)
    assert (refusal.rule if refusal else "") == rule


@pytest.mark.parametrize(
    ("options", "head", "body", "answer"),
    [
        ({}, headers(content_type="text/html"), PAGE, Accepted("text/html", False, False)),
        ({"cut_off": 10}, headers(content_type="text/html"), PAGE, Accepted("text/html", True, False)),
        (
            {"cut_off": len(PAGE)},
            headers(content_type="text/html"),
            PAGE,
            Accepted("text/html", False, False),
        ),
        ({"follow_only": ["text/*"]}, headers(content_type="text/x"), b"w", Accepted("text/x", False, True)),
        ({}, headers(content_type="text/html"), PDF, 1009),
        ({}, headers(), PDF, 1001),
        ({}, headers(content_type="text/html"), b"\n\n", 911),
        ({"cut_off": 10, "truncate": False}, headers(content_type="text/html"), PAGE, 958),
        ({"exclude_headers": {"A": [".*"]}}, headers(content_type="video/mp4", a="x"), PDF, 200),
    ],
)
def test_judged_as_a_whole(options: dict[str, Any], head: Any, body: bytes, answer: Accepted | int) -> None:
    found = Acceptance(HTML, **options).judge(head, body)
    assert (found.status if isinstance(found, Refusal) else found) == answer


NOON = 1_764_763_200.0  # 2025-12-03 12:00 UTC


@pytest.mark.parametrize(
    ("value", "end"),
    [
        ("unavailable_after: Wed, 03 Dec 2025 12:00:00 GMT", NOON),
        ("unavailable_after: 2025-12-03T12:00:00Z", NOON),
        ("unavailable_after: 3 Dec 2025 04:00:00 PST", NOON),
        ("noarchive, unavailable_after : 2025-12-03T12:00:00Z", NOON),
        ("unavailable_after: 2025-12-03T12:00:00Z, unavailable_after: 2026-01-01", NOON),
        ("unavailable_after: soon", None),
        ("unavailable_after:", None),
        ("noarchive", None),
    ],
)
def test_unavailable_after(value: str, end: float | None) -> None:
    directives = parse_directives([value])
    assert expiry(directives) == end
    permission = IndexPermission()
    assert not permission.refusal(directives, (), NOON - 1)
    assert bool(permission.refusal(directives, (), NOON)) is (end is not None)


@pytest.mark.parametrize(
    ("directives", "tdm", "signals", "words"),
    [
        (["noai", "noimageai", "nosnippet"], [], {}, ("noai", "noimageai")),
        ([], ["tdm-reservation"], {}, ("tdm-reservation",)),
        ([], [], {"search": "no", "ai-train": "yes", "ai-input": "no"}, ("search=no", "ai-input=no")),
        (["noai", "noai"], [], {"ai-train": "no"}, ("noai", "ai-train=no")),
        ([], [], {"other": "no"}, ()),
    ],
)
def test_what_is_reserved(
    directives: list[str], tdm: list[str], signals: dict[str, str], words: tuple[str, ...]
) -> None:
    assert reservations_of(directives, tdm, signals) == words


@pytest.mark.parametrize(
    ("meta", "header", "in_file", "words"),
    [
        ([], ["1"], False, ("tdm-reservation",)),
        ([], ["0", "2", ""], False, ()),
        ([], ["0", " 1 "], False, ("tdm-reservation",)),
        (["0"], ["1"], True, ()),
        (["1"], ["0"], False, ("tdm-reservation",)),
        (["2"], ["0"], True, ()),
        (["yes"], [], True, ("tdmrep.json",)),
        ([], [], False, ()),
    ],
)
def test_meta_overrules_the_header_and_both_the_file(
    meta: list[str], header: list[str], in_file: bool, words: tuple[str, ...]
) -> None:
    assert tdm_words(meta, header, in_file=in_file) == words


@pytest.mark.parametrize("use", Reservation)
def test_each_use_is_obeyed_by_itself(use: Reservation) -> None:
    words = ("noai", "noimageai", "tdm-reservation", "search=no")
    (first,) = [word for word in words if first_reserved([word], frozenset({use}))]
    assert first_reserved(words, frozenset({use})) == first
    assert first_reserved(words, frozenset()) == ""


@pytest.mark.parametrize(
    ("others", "hidden"),
    [(("nosnippet",), True), (("max-snippet: 0",), True), (("max-snippet:20",), False), ((), False)],
)
def test_hidden_text(others: tuple[str, ...], hidden: bool) -> None:
    directives = RobotsDirectives(others=others)
    assert IndexPermission().hides_text(directives) is hidden
    assert not IndexPermission(meta=False).hides_text(directives)
