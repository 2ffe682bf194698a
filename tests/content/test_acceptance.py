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


HEADS: dict[str, tuple[dict[str, Any], Any, int | None, str]] = {
    "fast_39-ends after the headers": ({}, headers(content_type="video/mp4"), None, "types"),
    "wanted": ({}, headers(content_type="text/html"), None, ""),
    "text may be anything": ({}, headers(content_type="text/css"), None, ""),
    "generic": ({}, headers(content_type="application/octet-stream"), None, ""),
    "none": ({}, headers(), None, ""),
    "fast_40-detected later": ({"detect": True}, headers(content_type="video/mp4"), None, ""),
    "followed": ({"follow_only": ["video/*"]}, headers(content_type="video/mp4"), None, ""),
    "fast_42": ({"cut_off": 10, "truncate": False}, headers(content_type="text/html"), 11, "cut_off"),
    "fits": ({"cut_off": 10, "truncate": False}, headers(content_type="text/html"), 10, ""),
    "truncated later": ({"cut_off": 10}, headers(content_type="text/html"), 11, ""),
    "fast_179": ({"exclude_headers": {"X-A": ["b+"]}}, headers(x_a=["a", "bb"]), None, "exclude_headers X-A"),
}


def test_judged_by_the_head_alone(subtests: pytest.Subtests) -> None:
    for name, (options, head, length, rule) in HEADS.items():
        with subtests.test(name):
            refusal = Acceptance(HTML, **options).refuses_head(head, length)
            assert (refusal.rule if refusal else "") == rule


WHOLE: list[tuple[dict[str, Any], Any, bytes, Accepted | int]] = [
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
]


def test_judged_as_a_whole(subtests: pytest.Subtests) -> None:
    for options, head, body, answer in WHOLE:
        with subtests.test(options=options, head=head):
            found = Acceptance(HTML, **options).judge(head, body)
            assert (found.status if isinstance(found, Refusal) else found) == answer


NOON = 1_764_763_200.0  # 2025-12-03 12:00 UTC


UNAVAILABLE: list[tuple[str, float | None]] = [
    ("unavailable_after: Wed, 03 Dec 2025 12:00:00 GMT", NOON),
    ("unavailable_after: 2025-12-03T12:00:00Z", NOON),
    ("unavailable_after: 3 Dec 2025 04:00:00 PST", NOON),
    ("noarchive, unavailable_after : 2025-12-03T12:00:00Z", NOON),
    ("unavailable_after: 2025-12-03T12:00:00Z, unavailable_after: 2026-01-01", NOON),
    ("unavailable_after: soon", None),
    ("unavailable_after:", None),
    ("noarchive", None),
]


def test_unavailable_after(subtests: pytest.Subtests) -> None:
    for value, end in UNAVAILABLE:
        with subtests.test(value):
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


META: list[tuple[list[str], list[str], bool, tuple[str, ...]]] = [
    ([], ["1"], False, ("tdm-reservation",)),
    ([], ["0", "2", ""], False, ()),
    ([], ["0", " 1 "], False, ("tdm-reservation",)),
    (["0"], ["1"], True, ()),
    (["1"], ["0"], False, ("tdm-reservation",)),
    (["2"], ["0"], True, ()),
    (["yes"], [], True, ("tdmrep.json",)),
    ([], [], False, ()),
]


def test_meta_overrules_the_header_and_both_the_file(subtests: pytest.Subtests) -> None:
    for meta, header, in_file, words in META:
        with subtests.test(meta=meta, header=header):
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
