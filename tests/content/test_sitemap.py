"""Sitemaps in all their forms, and hostile ones."""

import gzip
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.until import bounded

from ultracrawl.content.feeds.sitemap import MAX_URLS, SitemapKind, SitemapUrl, parse_sitemap, unzip
from ultracrawl.content.xml import XmlRefusedError, read_xml

URL = "https://example.com/sitemap.xml"
HEAD = b'<?xml version="1.0" encoding="UTF-8"?>'
SIMPLE = HEAD + b"<urlset><url><loc>https://example.com/a</loc></url></urlset>"


def locs(data: bytes) -> list[str]:
    return [entry.loc for entry in parse_sitemap(data, URL).urls]


def test_sitemap_all_fields() -> None:
    sitemap = parse_sitemap(
        HEAD
        + b"""<s:urlset xmlns:s="x" xmlns:xhtml="y"><s:url>
        <s:loc> https://example.com/a?b=1&amp;c=2 </s:loc><s:lastmod>2024-05-02T10:00:00+02:00</s:lastmod>
        <s:changefreq>Daily</s:changefreq><s:priority>0.8</s:priority>
        <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/></s:url></s:urlset>""",
        URL,
    )
    assert sitemap.kind is SitemapKind.URLS
    assert sitemap.urls == (
        SitemapUrl(
            "https://example.com/a?b=1&c=2",
            datetime(2024, 5, 2, 8, tzinfo=UTC),
            "daily",
            0.8,
            (("de", "https://example.com/de"),),
            datetime(2024, 5, 2, 8, tzinfo=UTC).timestamp(),
        ),
    )
    assert not sitemap.problem


FORMS: dict[str, tuple[bytes, list[str] | None]] = {
    "xml": (SIMPLE, ["https://example.com/a"]),
    "gzip": (gzip.compress(SIMPLE), ["https://example.com/a"]),
    "utf-16": (SIMPLE.decode().replace("UTF-8", "UTF-16").encode("utf-16"), ["https://example.com/a"]),
    "bare-ampersand": (SIMPLE.replace(b"/a", b"/?a=1&b=2"), ["https://example.com/?a=1&b=2"]),
    "html-entity": (SIMPLE.replace(b"/a", b"/&eacute;"), ["https://example.com/é"]),
    "control-character": (SIMPLE.replace(b"/a", b"/\x08a"), ["https://example.com/a"]),
    "cut-off": (SIMPLE[:-20], ["https://example.com/a"]),
    "text": (b"\xef\xbb\xbfhttps://example.com/a\r\nnonsense\nhttp://b.example/", None),
    "rss": (
        b"<rss><channel><link>/</link><item><link>/p</link></item></channel></rss>",
        ["https://example.com/p"],
    ),
    "atom": (
        b"<feed><entry><link rel='self' href='/no'/><link href='/p'/></entry></feed>",
        ["https://example.com/p"],
    ),
    "no-web-url": (SIMPLE.replace(b"https://example.com/a", b"javascript:x"), []),
    "html": (b"<html><body>404</body></html>", []),
    "empty": (b"", []),
    "broken-gzip": (b"\x1f\x8b\x08broken", []),
}


def test_sitemap_forms(subtests: pytest.Subtests) -> None:
    for name, (data, expected) in FORMS.items():
        with subtests.test(name):
            assert locs(data) == (
                expected if expected is not None else ["https://example.com/a", "http://b.example/"]
            )


def test_sitemap_index() -> None:
    sitemap = parse_sitemap(
        HEAD + b"<sitemapindex><sitemap><loc>https://example.com/1.xml</loc></sitemap></sitemapindex>", URL
    )
    assert sitemap.kind is SitemapKind.INDEX
    assert [child.loc for child in sitemap.children] == ["https://example.com/1.xml"]
    assert sitemap.urls == ()


LAUGHS = b"<!DOCTYPE u [<!ENTITY a 'ha'>" + b"".join(
    b"<!ENTITY %c '%s'>" % (98 + level, b"&%c;" % (97 + level) * 10) for level in range(9)
)


@pytest.mark.parametrize(
    "prolog",
    [
        pytest.param(LAUGHS + b"]>", id="billion-laughs"),
        pytest.param(b"<!DOCTYPE u [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>", id="external-entity"),
        pytest.param(
            b"<!DOCTYPE u [<!ENTITY % a SYSTEM 'http://e.example/x.dtd'> %a;]>", id="parameter-entity"
        ),
        pytest.param(b"<!DOCTYPE u SYSTEM 'http://e.example/x.dtd'>", id="external-dtd"),
    ],
)
def test_sitemap_hostile_xml_is_refused(prolog: bytes) -> None:
    with bounded():
        sitemap = parse_sitemap(
            prolog + b"<urlset><url><loc>https://example.com/&a;</loc></url></urlset>", URL
        )
    assert sitemap.urls == ()
    assert sitemap.problem


def test_sitemap_harmless_doctype_is_read() -> None:
    assert locs(b"<!DOCTYPE urlset>" + SIMPLE[len(HEAD) :]) == ["https://example.com/a"]


def test_sitemap_bombs_are_bounded() -> None:
    bomb = gzip.compress(b"\0" * 80_000_000)
    data, cut = unzip(bomb, limit=1_000_000)
    assert (len(data), cut) == (1_000_000, True)


def test_sitemap_has_a_most_of_entries() -> None:
    entries = b"".join(
        b"<url><loc>https://example.com/%d</loc></url>" % number for number in range(MAX_URLS + 10)
    )
    sitemap = parse_sitemap(b"<urlset>" + entries + b"</urlset>", URL)
    assert len(sitemap.urls) == MAX_URLS
    assert "50000" in sitemap.problem


def test_sitemap_deep_xml() -> None:
    assert parse_sitemap(b"<urlset>" + b"<a>" * 200_000, URL).problem


def test_xml_refusal_is_an_error_of_its_own() -> None:
    with pytest.raises(XmlRefusedError, match="DTD"):
        read_xml(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", None)  # type: ignore[arg-type]


@given(st.binary(max_size=300))
def test_sitemap_never_raises_on_bytes(data: bytes) -> None:
    parse_sitemap(data, URL)
    parse_sitemap(b"\x1f\x8b\x08" + data, URL)


_PIECES = st.sampled_from(
    [
        b"<urlset>",
        b"<url>",
        b"</url>",
        b"<loc>",
        b"</loc>",
        b"http://a.b/",
        b"<rss>",
        b"<item>",
        b"<link href='http://['/>",
        b"<![CDATA[",
        b"]]>",
        b"&x;",
        b"<!DOCTYPE a>",
        b"<feed>",
        b"<entry>",
        b"</urlset>",
        b"<?x?>",
        b"\xff",
        b"<lastmod>1",
    ]
)


@given(st.lists(_PIECES, max_size=20), _PIECES)
def test_sitemap_never_raises_on_markup(pieces: list[bytes], first: bytes) -> None:
    parse_sitemap(first + b"".join(pieces), URL)


@pytest.mark.parametrize("prefix", ["image", "i"])
def test_the_address_of_a_picture_is_no_page(prefix: str) -> None:
    data = (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:{prefix}="http://www.google.com/x"><url>'
        f"<{prefix}:loc>https://example.com/j.png</{prefix}:loc><loc>https://example.com/b</loc></url></urlset>"
    )
    assert locs(data.encode()) == ["https://example.com/b"]


def test_an_address_that_is_cut_off_is_none() -> None:
    assert locs(b"<urlset><url><loc>https://example.com/a</loc></url><url><loc>https://example.com/pag") == [
        "https://example.com/a"
    ]


@pytest.mark.parametrize("kind", ["sitemapindex", "urlset"])
def test_addresses_that_are_relative_are_counted(kind: str) -> None:
    entry = "sitemap" if kind == "sitemapindex" else "url"
    entries = "".join(f"<{entry}><loc>{loc}</loc></{entry}>" for loc in ("/a", "b", "https://example.com/c"))
    sitemap = parse_sitemap(f"<{kind}>{entries}</{kind}>".encode(), URL)
    assert [one.loc for one in (*sitemap.urls, *sitemap.children)] == ["https://example.com/c"]
    assert "2" in sitemap.problem
