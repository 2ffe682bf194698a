"""P5: bounds of one page hold before the parser sees it, and what they cut is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from ultracrawl.content.html import guards
from ultracrawl.content.html.guards import limit_formatting
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.limits import PageLimits
from ultracrawl.content.reader import PageReader
from ultracrawl.model import Conversion, LinkKind
from ultracrawl.sources.sections.fetching.limits import LimitsSection

LINKS = b"".join(b"<p><a href='/%d'>link %d</a></p>\n" % (one, one) for one in range(30))


def test_what_stands_behind_the_nodes_of_a_page_is_left_out() -> None:
    page = parse_html(LINKS, url="http://h/", limits=PageLimits(nodes=8))
    assert [link.href for link in page.links] == ["/0", "/1"]
    assert page.text == "link 0 link 1"
    assert page.truncated.startswith("limits.nodes_per_page 8:")


def test_links_beyond_the_limit_are_left_out_and_the_text_is_not() -> None:
    page = parse_html(LINKS + LINKS, url="http://h/", limits=PageLimits(links=30))
    assert (len(page.links), page.truncated) == (30, ""), "the same link counts once"
    page = parse_html(LINKS, url="http://h/", limits=PageLimits(links=12))
    assert [link.href for link in page.links] == [f"/{one}" for one in range(12)]
    assert page.text.endswith("link 29")
    assert page.truncated.startswith("limits.links_per_page 12:")


def test_by_default_the_index_page_of_a_large_manual_is_whole() -> None:
    """Those of the manuals of Linux and Python have 12,000 and 15,000 different links."""
    number = 15_000
    entries = b"".join(
        b"<li><a href='m%d.html#f%d'>f%d</a>\n" % (one // 40, one, one) for one in range(number)
    )
    limits = LimitsSection()
    page = parse_html(
        entries, url="http://h/genindex.html", limits=PageLimits(limits.nodes_per_page, limits.links_per_page)
    )
    assert (len(page.links), page.truncated) == (number, "")


def test_a_page_that_keeps_to_its_limits_is_whole() -> None:
    limits = PageLimits(nodes=LINKS.count(b"<"), links=30, text=len(parse_html(LINKS, url="http://h/").text))
    page = parse_html(LINKS, url="http://h/", limits=limits)
    assert (len(page.links), page.text, page.truncated) == (30, parse_html(LINKS, url="http://h/").text, "")


@pytest.mark.parametrize("media_type", ["text/html", "text/plain"])
def test_text_ends_with_a_word(media_type: str) -> None:
    reader = PageReader(limits=PageLimits(text=12))
    page = reader.read(b"alpha beta gamma delta", "http://h/", media_type)
    assert page is not None
    assert page.text == "alpha beta"
    assert page.truncated.startswith("conversion.text 12:")


def test_meta_values_are_bounded_and_robots_is_read_nevertheless() -> None:
    head = b"<meta name=description content='%b'><meta name=robots content=noindex>" % (b"x" * 50)
    page = parse_html(head, url="http://h/", limits=PageLimits(text=40))
    assert (page.meta, page.robots.index) == ({}, False)
    assert page.truncated


def test_links_of_plain_text_and_of_converted_documents_are_bounded() -> None:
    reader = PageReader(frozenset({LinkKind.TEXT, LinkKind.A}), ("*/*",), limits=PageLimits(links=2))
    page = reader.read(b"http://a/ http://b/ http://c/", "http://h/", "text/plain")
    assert page is not None
    assert [link.href for link in page.links] == ["http://a/", "http://b/"]
    assert page.truncated.startswith("limits.links_per_page 2:")
    page = reader.page_of(Conversion(links=("http://a/", "http://b/", "http://c/")), "application/pdf")
    assert [link.href for link in page.links] == ["http://a/", "http://b/"]
    assert page.truncated.startswith("limits.links_per_page 2:")


PARAGRAPHS = 1000
REOPENED = {
    "font": b"".join(b"<font id=%d>" % one for one in range(PARAGRAPHS)),
    "in upper case": b"".join(b"<FONT\nID=%d>" % one for one in range(PARAGRAPHS)),
    "of all kinds": b"".join(
        b"<%b id=%d>" % (name, one)
        for one in range(PARAGRAPHS // 5)
        for name in (b"b", b"i", b"tt", b"em", b"u")
    ),
    "nested": b"<b><i>" * 50_000,
    "ended under another name": b"".join(b"<b id=%d></i>" % one for one in range(PARAGRAPHS)),
}


@pytest.mark.parametrize("opened", REOPENED.values(), ids=REOPENED)
def test_formatting_is_not_opened_again_in_every_paragraph(opened: bytes) -> None:
    body = opened + b"<p><a href=/x>x</a>" * PARAGRAPHS
    tree = LexborHTMLParser(limit_formatting(body))
    assert tree.root is not None
    assert sum(1 for _ in tree.root.traverse()) < 200_000, "not a million"
    page = parse_html(body, url="http://h/")
    assert (len(page.text.split()), len(page.links), page.truncated) == (PARAGRAPHS, 1, "")


def test_formatting_of_ordinary_pages_stays_as_it_is() -> None:
    body = b"<p>one <b>two</b> <i>three</i> <font color=red>four</font> <em>five</em></p>\n" * 2000
    assert limit_formatting(body) is body


@given(
    st.lists(
        st.sampled_from([b"<div>", b"</div>", b"<P>", b"</p>", b"<b>", b"</B>", b"<td>", b"text"]),
        max_size=300,
    )
)
def test_estimating_the_depth_by_counting_changes_no_result(parts: list[bytes]) -> None:
    body = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_HARMLESS_TAGS": 1, "MAX_DEPTH": 20, "_COUNTED_TAGS": 7}.items():
            patch.setattr(guards, name, value)
        counted = guards.limit_nesting(body)
        patch.setattr(guards, "_may_be_deep", lambda _: True)
        assert counted == guards.limit_nesting(body)


def test_a_large_flat_page_is_not_walked_tag_by_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(guards, "_ANY_TAG")
    body = b"<ul>" + b"<li><p><b>x</b><a href=/>y</a></p></li>" * 10_000 + b"</ul>"
    assert guards.limit_nesting(body) == (body, False)
