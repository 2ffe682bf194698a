"""`JoinedLinks` answers as the policy does, whatever it has seen before."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.boundary.rewriting.rewriting_policy import AliasPolicy
from ultracrawl.rules.urls import joined as module
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.joined import JoinedLinks
from ultracrawl.rules.urls.normalise import Normaliser

POLICY = UrlPolicy()
POLICIES = (
    POLICY,
    UrlPolicy(keep_fragment=True),
    UrlPolicy(keep_fragment="routes"),
    UrlPolicy(max_length=24),
    UrlPolicy(Normaliser(["query_order"], {"q"})),
    AliasPolicy.around(POLICY, {"h.test": "main.test"}),
)
BASES = (
    "http://h.test/a/b.html",
    "http://h.test/a/c.html",
    "http://h.test/a/c.html#",
    "http://h.test/a/c.html#d",
    "http://h.test/a/%63.html",
    "http://h.test/a/..",
    "http://h.test/a/longer-name.html",
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
    "x.html#y", "x.html#z", "x.html#", "#", "x #y", " x#y", "../x.html#y", "../../../../x", "../", "a/b.c/d", "a/../x",
    "..x", "x..", "a//b", "x;y", "x%41", "\u00e4", "a_b~c-d/1", "a-rather-long-name.html",
    "x#a-rather-long-name-of-a-part",
)  # fmt: skip


@given(
    st.sampled_from(POLICIES),
    st.lists(st.tuples(st.sampled_from(BASES), st.sampled_from(HREFS)), max_size=60),
)
def test_a_link_is_what_the_policy_says_for_its_page(policy: UrlPolicy, asked: list[tuple[str, str]]) -> None:
    joined = JoinedLinks(policy)
    for base, href in asked:
        assert joined.joined([href], base) == {href: policy.canonical(href, base)}


def test_links_of_one_page_are_what_the_policy_says() -> None:
    for policy in POLICIES:
        for base in BASES:
            found = JoinedLinks(policy).joined(HREFS, base)
            assert found == {href: policy.canonical(href, base) for href in HREFS}


def counting() -> tuple[JoinedLinks, list[str]]:
    """Return a memory of links, and the list of what it asks its policy for."""
    asked: list[str] = []

    @dataclass(frozen=True)
    class Counting(UrlPolicy):
        def canonical(self, href: str, base: str | None = None) -> str | None:
            asked.append(href)
            return super().canonical(href, base)

    return JoinedLinks(Counting()), asked


@pytest.mark.parametrize(
    ("href", "again"),
    [("x%41", 0), ("/x", 0), ("http://k.test/", 0), ("?q=2", 1), ("#", 1), ("mailto:a@b.test", 1)],
    ids=["relative", "rooted", "absolute", "query", "fragment", "no-url"],
)
def test_pages_of_one_folder_share_what_does_not_depend_on_the_page(href: str, again: int) -> None:
    joined, asked = counting()
    joined.joined([href], "http://h.test/a/1.html")
    asked.clear()
    joined.joined([href], "http://h.test/a/2.html")
    assert asked == [href] * again, "the page itself is known to be canonical by its folder"


@pytest.mark.parametrize("link", ["x.html", "../x.html", "a/b/c.html#d"])
def test_a_plain_path_is_joined_without_the_policy(link: str) -> None:
    joined, asked = counting()
    joined.joined([link], "http://h.test/a/b/1.html")
    assert asked == ["http://h.test/a/b/1.html"]


def test_links_that_differ_in_the_fragment_alone_are_looked_at_once() -> None:
    joined, asked = counting()
    joined.joined(["/x#1", "/x#2", "#1", "#2"], "http://h.test/a/1.html")
    assert asked[1:] == ["/x#", "#"]


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINKS", 3)
    joined, asked = counting()
    page = "http://h.test/a/1.html"
    for number in range(4):
        joined.joined([f"/{number}"], page)
    asked.clear()
    joined.joined(["/0"], page)
    assert "/0" in asked
