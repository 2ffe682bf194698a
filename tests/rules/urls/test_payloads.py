"""Which body belongs to which URL."""

from __future__ import annotations

import pytest

from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.payloads import Payloads

BODIES = {
    "https://h.example.com/q": "exact",
    "prefix:https://h.example.com/": "host",
    "prefix:https://h.example.com/list/": "list",
    "prefix:https://bare.example.com": "bare",
}


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://h.example.com/q", b"exact"),
        ("https://h.example.com/q2", b"host"),
        ("https://h.example.com/list/1", b"list"),
        ("https://bare.example.com/", b"bare"),
        ("https://bare.example.com.evil.example/", None),
        ("http://h.example.com/q", None),
        ("https://h.example.com:8443/q", None),
        ("https://other.example.com/q", None),
    ],
)
def test_fast_29_exact_then_longest_beginning(url: str, body: bytes | None) -> None:
    assert Payloads(BODIES, UrlPolicy()).of(url) == body


@pytest.mark.parametrize("name", ["", "prefix:", "/q", "mailto:a@b.example", "ftp://h/"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no URL"):
        Payloads({name: ""}, UrlPolicy(schemes=frozenset({"http", "ftp"})))


def test_a_scheme_that_is_not_crawled_is_no_mistake() -> None:
    payloads = Payloads({"prefix:https://h/": "x"}, UrlPolicy(schemes=frozenset({"http"})))
    assert (payloads.of("https://h/a"), payloads.of("http://h/a")) == (b"x", None)


def test_nothing_is_sent_by_default() -> None:
    assert not Payloads({}, UrlPolicy())
