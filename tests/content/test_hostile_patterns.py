"""P7: our own expressions meet texts that are made to have them try everything; no test here takes a second."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ultracrawl.content import parse_sitemap
from ultracrawl.content.feed import is_feed, parse_feed
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
