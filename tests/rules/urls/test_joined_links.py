"""`JoinedLinks` answers as the policy does, whatever it has seen before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.urls import joined as module
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.joined import JoinedLinks

POLICY = UrlPolicy()
BASES = (
    "http://h.test/a/b.html",
    "http://h.test/a/c.html?q=1/2",
    "http://h.test/a/",
    "http://h.test/",
    "http://h.test",
    "http://h.test/a/b/..",
    "http://h.test/a\\b",
    "http://other.test/a/b.html",
    "https://h.test/a/b.html",
)
HREFS = (
    "x.html", "/x", "../x", "?q=2", "#top", "", " ?q=3", "\t#y", ".", "..", "//k.test/x", "http://k.test/", "http:x",
    "http:?q=4", "http:?u=http://k.test/", "mailto:a@b.test", "x:y", "a\n?b", "\\\\k.test\\x", "x?y#z", "./?a",
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(BASES), st.sampled_from(HREFS)), max_size=60))
def test_a_link_is_what_the_policy_says_for_its_page(asked: list[tuple[str, str]]) -> None:
    joined = JoinedLinks(POLICY.canonical)
    for base, href in asked:
        assert list(joined.of([href], base)) == [(href, POLICY.canonical(href, base))]


def counting() -> tuple[JoinedLinks, list[str]]:
    asked: list[str] = []

    def canonical(href: str, base: str) -> str | None:
        asked.append(href)
        return POLICY.canonical(href, base)

    return JoinedLinks(canonical), asked


@pytest.mark.parametrize(
    ("href", "again"),
    [("x.html", 0), ("/x", 0), ("http://k.test/", 0), ("?q=2", 1), ("#top", 1), ("mailto:a@b.test", 1)],
    ids=["relative", "rooted", "absolute", "query", "fragment", "no-url"],
)
def test_pages_of_one_folder_share_what_does_not_depend_on_the_page(href: str, again: int) -> None:
    joined, asked = counting()
    list(joined.of([href], "http://h.test/a/1.html"))
    asked.clear()
    list(joined.of([href], "http://h.test/a/2.html"))
    assert asked.count(href) == again


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINKS_KEPT", 3)
    joined, asked = counting()
    page = "http://h.test/a/1.html"
    for number in range(4):
        list(joined.of([f"{number}.html"], page))
    asked.clear()
    list(joined.of(["0.html"], page))
    assert "0.html" in asked
