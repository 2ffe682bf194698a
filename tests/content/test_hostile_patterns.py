"""P7: our own expressions meet texts that are made to have them try everything; no test here takes a second."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.sentences import sentence

from ultracrawl.content.feeds.feed import is_feed, parse_feed
from ultracrawl.content.feeds.sitemap import parse_sitemap
from ultracrawl.content.html.guards import limit_attributes
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import effective_type, sniff_type

pytestmark = pytest.mark.timeout(30)
"""A pattern that backtracks takes years for these."""

COMMENTS = b"<!---->" * 200


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: sniff_type(COMMENTS), id="p7 comments before markup"),
        pytest.param(lambda: effective_type("text/html", COMMENTS + b"<x>"), id="p7 comments of a page"),
        pytest.param(lambda: sniff_type(b"<!-- -->\n" * 150), id="p7 comments with blanks"),
        pytest.param(lambda: is_feed("", COMMENTS * 3), id="p7 comments before a feed"),
        pytest.param(
            lambda: is_feed("text/xml", b"<?a?>" * 300 + COMMENTS), id="p7 instructions before a feed"
        ),
        pytest.param(lambda: parse_feed(b" " * (4 << 20) + b"<a", ""), id="p7 blanks before a feed"),
        pytest.param(lambda: parse_feed(b"<rss>" + b"\n" * (4 << 20), ""), id="p7 blanks in a feed"),
        pytest.param(
            lambda: parse_sitemap(b"<a>" + b"<?xml " * (1 << 19), ""), id="p7 declarations in a sitemap"
        ),
    ],
)
def test_an_expression_takes_linear_time(read: Callable[[], object]) -> None:
    read()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!-- a --> <!-- b --><html>", "text/html"),
        (b"<!-- a > b -- c --><p>", "text/html"),
        (b"<!-- <html> --><?xml version='1.0'?>", "text/plain"),
    ],
)
def test_what_comes_behind_comments_is_seen_as_before(body: bytes, kind: str) -> None:
    assert sniff_type(body) == kind


def test_a_feed_behind_comments_and_a_declaration_is_one() -> None:
    head = b"<!-- a --> <?xml version='1.0'?><!-- b > c -->"
    assert is_feed("", head + b"<rss>")
    assert parse_feed(head + b"<rss><channel><title>T</title></channel></rss>", "").title == "T"


def attributes(number: int, sign: bytes = b"=1", between: bytes = b" ") -> bytes:
    return between.join(b"a%d%b" % (one, sign) for one in range(number))


A = attributes(150_000)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<p " + A + b">end", id="p5 attributes"),
        pytest.param(b"</p " + A + b">end", id="p5 attributes of an end tag"),
        pytest.param(b"<p\f" + attributes(150_000, b"=''", b"") + b">end", id="p5 attributes without blanks"),
        pytest.param(
            b"<p " + attributes(150_000, b'=">"') + b">end", id="p5 attributes with ends of tags in them"
        ),
        pytest.param(
            b'<!-- <z x=" --><p ' + A + b'><!-- "> -->end', id="p5 a tag behind a quote in a comment"
        ),
        pytest.param(b'<z q=<p/x="><p ' + A + b'">end', id="p5 a tag behind a quote that is none"),
        pytest.param(b"<svg><title><p " + A + b"></title></svg>end", id="p5 a tag in a drawing"),
        pytest.param(
            b"".join(b"<hTmL a%d=1>" % one for one in range(150_000)) + b"end", id="p5 one element of many"
        ),
        pytest.param((b"<a " * 999 + b">") * 2000, id="p5 tags in tags"),
        pytest.param(b"<a/b=" * 800_000, id="p5 tags in values"),
    ],
)
def test_p5_the_attributes_of_a_tag_are_bounded(body: bytes) -> None:
    page = parse_html(body, url="http://h/")
    assert sentence("html.too_many_attributes") in page.truncated.split("; ")
    assert not body.endswith(b">end") or page.text.endswith("end")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<p " + attributes(999) + b">" + b"x" * 40_000, id="as many as there may be"),
        pytest.param(b"<p title='" + b"<b> a " * 9000 + b"'>x", id="tags in a value"),
        pytest.param(b"<script>if (a<b) {" + b"c, " * 900 + b"}</script>" + b"x" * 40_000, id="a script"),
        pytest.param(b"<html lang=en><body class=c>" + b"<p class=d>x</p>" * 4000, id="a page"),
    ],
)
def test_other_pages_stay_as_they_are(body: bytes) -> None:
    assert limit_attributes(body) == (body, False)
