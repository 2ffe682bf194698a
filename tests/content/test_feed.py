"""Feeds of all kinds, and what is not one."""

from __future__ import annotations

import json
import re

import pytest
from support.until import bounded

from ultracrawl.content.feeds.feed import MAX_ENTRIES, FeedEntry, is_feed, parse_feed, plain_text

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


FEEDS: list[tuple[str, bytes, bool]] = [
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
]


def test_what_is_a_feed(subtests: pytest.Subtests) -> None:
    for content_type, body, expected in FEEDS:
        with subtests.test(content_type, body=body):
            assert is_feed(content_type, body) is expected


@pytest.mark.parametrize(
    "data",
    [
        b'<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><link>&x;</link>',
        b'<!DOCTYPE rss SYSTEM "http://evil/x.dtd" [<!ENTITY x "told">]><rss><channel><item><link>&x;</link>',
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


XHTML = '<div xmlns="http://www.w3.org/1999/xhtml">'
SPACES = (
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" '
    'xmlns:s="http://shop.example/ns" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
)
RSS_ITEMS = {
    "foreign fields before its own": (
        "<link>/1</link><media:title>photo credit</media:title><media:description>photo</media:description>"
        "<title>The title</title><description>The text</description>",
        ("/1", "The title", "The text"),
    ),
    "a foreign link first": ("<s:link>http://other/x</s:link><link>/1</link>", ("/1", "", "")),
    "a foreign link alone": ("<s:link>http://other/x</s:link>", None),
    "a link of Atom": ('<atom:link rel="self" href="/f"/><atom:link href="/1"/>', ("/1", "", "")),
    "foreign fields alone": (
        "<link>/1</link><itunes:title>Song</itunes:title><media:group><media:description>notes"
        "</media:description></media:group><s:description>no</s:description>",
        ("/1", "Song", "notes"),
    ),
    "the whole text before its beginning": (
        "<link>/1</link><description>short</description><content:encoded>&lt;p&gt;all of it</content:encoded>",
        ("/1", "", "all of it"),
    ),
    "markup that is not escaped": (
        "<link>/1</link><title>AT<b>x</b>T</title><description>a<p>b</p>c</description>",
        ("/1", "ATxT", "a b c"),
    ),
    "parts of a part": (
        "<link>/1</link><category><image><title>Logo</title><link>/9</link></image></category>",
        ("/1", "", ""),
    ),
    "an identifier that is an address": ("<guid>http://h/2</guid>", ("/2", "", "")),
}
ATOM_ENTRIES = {
    "XHTML": (
        f'<link href="/1"/><title type="xhtml">{XHTML}Title <b>quagga</b></div></title>'
        f'<content type="xhtml">{XHTML}<p>Body <i>okapi</i></p></div></content>',
        ("/1", "Title quagga", "Body okapi"),
    ),
    "text that looks like markup": (
        '<link href="/1"/><title type="text">a &lt;b&gt; c</title><content type="text">&lt;p&gt;</content>',
        ("/1", "a <b> c", "<p>"),
    ),
    "coded": (
        '<link href="/1"/><title mode="base64">VGl0bGU=</title><content type="application/octet-stream">'
        "Qm9keSBva2FwaQ==</content>",
        ("/1", "Title", "Body okapi"),
    ),
    "coded wrongly": ('<link href="/1"/><title mode="base64">%%%</title>', ("/1", "", "")),
    "an identifier alone": ("<id>http://h/1</id><title>One</title>", ("/1", "One", "")),
    "a name that is no address": ("<id>tag:h,2005:1</id><title>One</title>", None),
    "an address with another base": (
        '<link xml:base="http://h/dir/" href="1"/><title>One</title>',
        ("/dir/1", "One", ""),
    ),
}


def read_entry(data: str) -> tuple[str, str, str] | None:
    entries = parse_feed(data.encode(), "http://h/feed").entries
    if not entries:
        return None
    (entry,) = entries
    return entry.url.removeprefix("http://h"), entry.title, plain_text(entry.text)


def test_an_item_of_rss(subtests: pytest.Subtests) -> None:
    for case, (item, expected) in RSS_ITEMS.items():
        with subtests.test(case):
            assert read_entry(f"<rss {SPACES}><channel><item>{item}</item></channel></rss>") == expected


@pytest.mark.parametrize("case", ATOM_ENTRIES)
def test_an_entry_of_atom(case: str) -> None:
    entry, expected = ATOM_ENTRIES[case]
    assert read_entry(f'<feed xmlns="http://www.w3.org/2005/Atom"><entry>{entry}</entry></feed>') == expected
    prefixed = re.sub(r"<(/?)(?=entry|link|title|content|id)", r"<\1a:", entry)
    feed = f'<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry>{prefixed}</a:entry></a:feed>'
    assert read_entry(feed) == expected, "whatever the prefix is"


def test_the_title_of_a_feed_may_be_xhtml() -> None:
    feed = parse_feed(
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title type="xhtml">{XHTML}Feed <b>zebra</b></div></title>'
        "<author><title>Dr</title></author></feed>".encode(),
        "http://h/feed",
    )
    assert feed.title == "Feed zebra"


def test_rss_0_91_with_its_doctype_is_read_and_nothing_is_opened() -> None:
    doctype = (
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
        '"http://my.netscape.com/publish/formats/rss-0.91.dtd">'
    )
    feed = parse_feed(f'<?xml version="1.0"?>\n{doctype}{RSS[21:].decode()}'.encode(), "http://h/feed/")
    assert [entry.title for entry in feed.entries] == ["One", "Two", ""]


@pytest.mark.parametrize(
    ("cut", "urls"),
    [("<item><link>http://h/1", []), ("<item><link>http://h/1</link><title>On", ["http://h/1"])],
)
def test_half_an_address_is_none(cut: str, urls: list[str]) -> None:
    assert [one.url for one in parse_feed(f"<rss><channel>{cut}".encode(), "http://h/").entries] == urls


JSON = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "News",
    "description": "All of it",
    "items": [
        {
            "id": "1",
            "url": "/1",
            "title": "One",
            "content_html": "<p>Words <b>bold</b>",
            "date_published": "2024-01-01",
        },
        {"id": "http://h/2", "content_text": "a < b"},
        {"id": "3", "title": "no address"},
        {"id": "4", "external_url": "http://elsewhere/4", "title": True, "content_html": ["x"]},
        "nothing",
    ],
}


def test_a_json_feed() -> None:
    data = json.dumps(JSON).encode()
    assert is_feed("application/feed+json", data)
    feed = parse_feed(data, "http://h/feed.json", "application/feed+json")
    assert (feed.title, feed.description, feed.problem) == ("News", "All of it", "")
    assert feed.entries == (
        FeedEntry("http://h/1", "One", "<p>Words <b>bold</b>", DAY),
        FeedEntry("http://h/2", "", "a &lt; b"),
        FeedEntry("http://elsewhere/4"),
    )


@pytest.mark.parametrize(
    "data", [b"{", b"{}", b'{"items": 5}', b'{"items": ' + b"[" * 100_000, b'{"a":[' * 50_000]
)
def test_json_that_is_no_feed_has_a_problem(data: bytes) -> None:
    feed = parse_feed(data, "http://h/feed.json")
    assert (feed.entries, bool(feed.problem)) == ((), True)


def test_a_feed_of_deep_and_many_elements_is_read_in_bounded_time() -> None:
    deep = "<b>" * 100_000 + "x" + "</b>" * 100_000
    spaces = "".join(f'<a xmlns:p{number}="u{number}">' for number in range(20_000))
    with bounded():
        entry = f"<entry><link href='/1'/><title>{deep}</title></entry><entry>{spaces}"
        feed = parse_feed(f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}'.encode(), "http://h/")
    assert [entry.url for entry in feed.entries] == ["http://h/1"]
