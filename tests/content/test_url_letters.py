"""Letters beyond ASCII in URLs: what browsers send of those in links of a page, and of bytes in headers."""

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.charset.urls import url_of_bytes, with_query_in
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.rendered import merge_rendered
from ultracrawl.model import LinkKind
from ultracrawl.rules.urls.canonical import UrlPolicy

BASE = "http://h/d/page"
CANONICAL = UrlPolicy().canonical
ALL_KINDS = frozenset(LinkKind)


LINKS = [
    ("windows-1251", "/f?q=вода", "/f?q=%E2%EE%E4%E0"),
    ("shift_jis", "/f?q=検索", "/f?q=%8C%9F%8D%F5"),
    ("iso-8859-1", "/f?q=größe", "/f?q=gr%F6%DFe"),
    ("iso-8859-1", "/größe?q=ß#ö", "/gr%C3%B6%C3%9Fe?q=%DF"),
    ("iso-8859-1", "?q=ß", "/d/page?q=%DF"),
    ("iso-8859-1", "http://ö.example/?q=ß", "http://xn--nda.example/?q=%DF"),
    ("iso-8859-1", "/f?q=вa", "/f?q=%26%231074%3Ba"),
    ("iso-8859-1", "/f?q=€", "/f?q=%80"),
    ("gbk", "/f?q=搜索", "/f?q=%CB%D1%CB%F7"),
    ("euc-kr", "/f?q=검색", "/f?q=%B0%CB%BB%F6"),
    ("big5", "/f?q=搜尋", "/f?q=%B7j%B4M"),
    ("koi8-r", "/f?q=вода", "/f?q=%D7%CF%C4%C1"),
    ("iso-2022-jp", "/f?q=検 a", "/f?q=%1B$B8!%1B(B%20a"),
    ("utf-8", "/f?q=größe", "/f?q=gr%C3%B6%C3%9Fe"),
    ("utf-16-le", "/f?q=größe", "/f?q=gr%C3%B6%C3%9Fe"),
    ("iso-8859-1", "/f#?q=ß", "/f"),
    ("iso-8859-1", "/f?q=%DF&ß", "/f?q=%DF&%DF"),
    ("iso-8859-1", "/f?q=%C3%9F", "/f?q=%C3%9F"),
]


def test_links_are_sent_in_the_charset_of_their_page(subtests: pytest.Subtests) -> None:
    for charset, href, sent in LINKS:
        with subtests.test(charset, href=href):
            markup = f"<title>x</title><a href='{href}'>x</a><p>{'größe ' if charset.startswith('iso-8859-1') else ''}"
            body = markup.encode(charset, "xmlcharrefreplace")
            page = parse_html(body, url=BASE, content_type=f"text/html; charset={charset}")
            assert [CANONICAL(link.href, BASE) for link in page.links] == [
                sent if "//" in sent else f"http://h{sent}"
            ]


def test_every_url_of_a_page() -> None:
    body = (
        "<base href='/b/?b=ß'><link rel=canonical href='c?q=ß'><meta http-equiv=refresh content='9;url=r?q=ß'>"
        "<a href=''>t</a><a href='#s'>t</a><a href='?q=ß'>t</a><map><area href='?area=ß'></map>"
        "<iframe src='?i=ß'></iframe>"
        "<form action='?f=ß'></form><img src='?img=ß' srcset='?set=ß 2x'><object codebase='/o/' data='?o=ß'></object>"
        "<noscript><a href='?n=ß'>t</a></noscript><a href='mailto:x?subject=ß'>m</a>"
    ).encode("latin-1")
    page = parse_html(body, url=BASE, content_type="text/html; charset=latin1", link_kinds=ALL_KINDS)
    assert page.base == "http://h/b/?b=%DF"
    assert page.canonical == "c?q=%DF"
    assert page.refresh == (9.0, "r?q=%DF")
    urls = {link.href for link in page.links}
    names = ("?q", "?area", "?i", "?f", "?img", "?set", "?n")
    assert {f"{name}=%DF" for name in names} | {"http://h/o/?o=%DF", "c?q=%DF", "r?q=%DF"} <= urls
    assert {href for href in urls if not href.isascii()} == {"mailto:x?subject=ß"}


def test_what_scripts_leave_is_sent_in_the_charset_of_the_document() -> None:
    sent = parse_html(b"<title>\xdf\xdf\xdf", url=BASE, content_type="text/html; charset=latin1")
    left = parse_html("<a href='?q=ß'>".encode(), url=BASE, content_type="text/html; charset=utf-8")
    merged = merge_rendered(sent, left, ["/t?q=ß"], url=BASE, kept=True)
    assert [link.href for link in merged.links] == ["?q=%DF", "/t?q=ß"]


CODECS = ("cp1251", "cp1252", "cp932", "gb18030", "big5hkscs", "euc_jp", "cp949", "iso8859-7", "koi8-u")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12), st.sampled_from(CODECS))
def test_a_server_reads_the_letters_that_were_written(text: str, codec: str) -> None:
    query = text.replace("#", "").replace("%", "").replace("&", "")
    sent = CANONICAL(with_query_in(f"/?q={query}x", codec), BASE)
    assert sent is not None
    assert unquote_to_bytes(sent.partition("?q=")[2]).decode(codec) == (
        f"{query}x".encode(codec, "xmlcharrefreplace").decode(codec)
    )


@pytest.mark.parametrize(
    ("written", "url"),
    [
        (b"/gr\xfc\xdfe", "/gr%FC%DFe"),
        ("/weiß?q=ß".encode(), "/wei%C3%9F?q=%C3%9F"),
        (b" /plain%20a \t", "/plain%20a"),
        ("http://bücher.example/".encode(), "http://b%C3%BCcher.example/"),
    ],
)
def test_bytes_of_headers_stay_what_they_are(written: bytes, url: str) -> None:
    assert url_of_bytes(written) == url


def test_a_host_in_utf_8_is_found() -> None:
    assert CANONICAL(url_of_bytes("http://bücher.example/".encode()), BASE) == "http://xn--bcher-kva.example/"
