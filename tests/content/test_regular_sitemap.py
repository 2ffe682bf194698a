"""The short way through regular sitemaps gives what the parser gives, or leaves the file to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.feeds.sitemap import _Collector, parse_sitemap, regular_entries
from ultracrawl.content.xml import read_xml

URL = "https://example.com/sitemap.xml"
START = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by x -->\n<urlset xmlns="http://x">\n'
ENTRY = (
    "<url>\n<loc> https://example.com/a?b=1&amp;c </loc>"
    "<lastmod>2024-05-02</lastmod>\n<priority>0.5</priority></url>"
)


def whole(*entries: str, start: str = START, end: str = "</urlset>") -> bytes:
    return (start + "".join(entries) + end).encode()


def by_parser(data: bytes) -> object:
    collector = _Collector(URL)
    problem = read_xml(data, collector)
    return collector.result(problem)


REGULAR: dict[str, bytes] = {
    "one": whole(ENTRY),
    "none": whole(),
    "comment-behind": whole(ENTRY, ENTRY, end="</urlset>\n<!-- 2 entries -->\n"),
    "no-declaration": whole(ENTRY, start="<urlset>"),
    "byte-order-mark": b"\xef\xbb\xbf" + whole(ENTRY),
    "location-to-mend": whole("<url><loc>www.example.com/x#y</loc></url>"),
    "no-location": whole("<url><loc>nothing</loc></url>"),
    "priority-out-of-range": whole("<url><loc>http://a.b/</loc><priority>9</priority></url>"),
}


def test_regular_sitemaps_are_read_without_the_parser(subtests: pytest.Subtests) -> None:
    for name, data in REGULAR.items():
        with subtests.test(name):
            assert regular_entries(data) is not None
            assert parse_sitemap(data, URL) == by_parser(data)


IRREGULAR: dict[str, bytes] = {
    "cut-off": whole(ENTRY)[:-5],
    "other-elements": whole(ENTRY, "<url><image/></url>"),
    "html-entity": whole("<url><loc>http://a.b/&eacute;</loc></url>"),
    "bare-ampersand": whole("<url><loc>http://a.b/?a&b</loc></url>"),
    "cdata": whole("<url><loc><![CDATA[http://a.b/]]></loc></url>"),
    "control-character": whole("<url><loc>http://a.b/\x08</loc></url>"),
    "doctype": whole(ENTRY, start="<!DOCTYPE u [<!ENTITY a 'b'>]><urlset>"),
    "two-roots": whole(ENTRY, start="<urlset/><urlset>"),
    "more-behind": whole(ENTRY, end="</urlset><x/>"),
    "index": b"<sitemapindex></sitemapindex>",
    "text": b"http://a.b/",
    "endless-comment": b"<!--" + b"-" * 1_000_000,
}


def test_what_is_not_regular_is_left_to_the_parser(subtests: pytest.Subtests) -> None:
    for name, data in IRREGULAR.items():
        with subtests.test(name):
            assert regular_entries(data) is None


_PIECES = st.sampled_from(
    [
        "<url>",
        "</url>",
        "<loc>http://a.b/x</loc>",
        "<loc>www.a.b/&amp;</loc>",
        "<lastmod>2024-01-01</lastmod>",
        "<changefreq>Daily </changefreq>",
        "<priority>0.1</priority>",
        " \n",
        "<!-- c -->",
        "text",
    ]
)


@given(st.lists(st.one_of(_PIECES, st.just(ENTRY)), max_size=12))
def test_both_ways_agree_wherever_the_short_one_applies(pieces: list[str]) -> None:
    data = whole(*pieces)
    if regular_entries(data) is not None:
        assert parse_sitemap(data, URL) == by_parser(data)
