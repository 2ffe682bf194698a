"""Feeds of all kinds, and what is not one."""

from __future__ import annotations

import pytest

from ultracrawl.content.feeds.feed import MAX_ENTRIES, FeedEntry, is_feed, parse_feed

RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News &amp; more</title><link>http://h/</link><description>All of it</description>
<image><title>Logo</title></image>
<item><title>One</title><link>http://h/1</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>
<description>&lt;p&gt;Words &lt;b&gt;bold&lt;/b&gt;</description></item>
<item><title>Two</title><guid>http://h/2</guid></item>
<item><title>No link</title><guid isPermaLink="false">http://h/3</guid></item>
<item><link>rel/4</link></item></channel></rss>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Old</title></channel>
<item><title>One</title><link>http://h/1</link><dc:date>2024-01-01T00:00:00Z</dc:date></item></rdf:RDF>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><subtitle>s</subtitle>
<link href="http://h/"/><entry><title type="html">One</title><link rel="edit" href="/edit"/>
<link href="/1"/><updated>2024-01-01T00:00:00Z</updated><summary>Words</summary></entry></feed>"""
DAY = 1_704_067_200.0


def test_rss_2() -> None:
    feed = parse_feed(RSS, "http://h/feed/")
    assert (feed.title, feed.description, feed.problem) == ("News & more", "All of it", "")
    assert feed.entries == (
        FeedEntry("http://h/1", "One", "<p>Words <b>bold</b>", DAY),
        FeedEntry("http://h/2", "Two"),
        FeedEntry("http://h/feed/rel/4"),
    )
    assert feed.text == "All of it\nOne\nWords bold\nTwo"


@pytest.mark.parametrize(("data", "title"), [(RDF, "Old"), (ATOM, "A")], ids=["rss_1", "atom"])
def test_other_kinds(data: bytes, title: str) -> None:
    feed = parse_feed(data, "http://h/feed")
    assert (feed.title, feed.problem) == (title, "")
    assert [(entry.url, entry.title, entry.date) for entry in feed.entries] == [("http://h/1", "One", DAY)]


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("application/rss+xml", b"", True),
        ("application/atom+xml; charset=utf-8", b"x", True),
        ("text/xml", RSS, True),
        ("application/xml", b"<!-- c --><feed>", True),
        ("", b"\xef\xbb\xbf<?xml version='1.0'?><rdf:RDF>", True),
        ("text/plain", b"<rss version='2.0'>", True),
        ("text/xml", b"<urlset>", False),
        ("text/html", b"<rss>", False),
        ("application/xml", b"<feeder>", False),
        ("application/xml", b"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>", False),
        ("application/pdf", b"<rss>", False),
    ],
)
def test_what_is_a_feed(content_type: str, body: bytes, expected: bool) -> None:
    assert is_feed(content_type, body) is expected


@pytest.mark.parametrize(
    "data",
    [
        b'<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><link>&x;</link>',
        b'<!DOCTYPE rss SYSTEM "http://evil/x.dtd"><rss/>',
        b"<html></html>",
        b"no xml",
        b"",
    ],
    ids=["p6_entity", "p6_dtd", "page", "text", "empty"],
)
def test_what_is_none_gives_no_entries_and_a_problem(data: bytes) -> None:
    feed = parse_feed(data, "http://h/feed")
    assert (feed.entries, bool(feed.problem)) == ((), True)


def test_a_broken_feed_gives_what_stood_before_the_break_and_a_long_one_its_beginning() -> None:
    assert len(parse_feed(RSS[:500], "http://h/").entries) == 2
    items = b"<item><link>http://h/1</link></item>" * (MAX_ENTRIES + 5)
    feed = parse_feed(b"<rss><channel>" + items + b"</channel></rss>", "http://h/")
    assert (len(feed.entries), feed.problem) == (MAX_ENTRIES, f"more than {MAX_ENTRIES} entries")
