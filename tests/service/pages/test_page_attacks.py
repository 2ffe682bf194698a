"""What an attacker may put into titles, texts, sections, sources, URLs, queries and headers does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from urllib.parse import quote

import pytest
from lxml.html import HtmlElement, document_fromstring
from support.crawled import PORT, CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import Pages, define_project

from ultracrawl.service.pages.result_view import marked_beginnings, marked_snippet, marked_title, safe_link
from ultracrawl.service.pages.search_address import SearchAddress

SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"'><img src=x onerror=alert(1)>"
_VERSION = re.compile(r"\?v=[0-9a-f]+")
"""What the address of a file of ours ends with; it may hold any digits."""
OWN_SCRIPTS = 2
"""Scripts of a page at the most: htmx and ours."""


def assert_harmless(page: HtmlElement) -> None:
    """Assert that a page has no script, image or handler but its own, and no link that runs a script."""
    assert len(page.cssselect("script")) <= OWN_SCRIPTS
    assert all(
        (one.get("src") or "").startswith("/static/") and not one.text for one in page.cssselect("script")
    )
    assert not page.cssselect("img, iframe, object, style, [style]")
    for element in page.iter("*"):
        assert not [name for name in element.attrib if name.startswith("on")]
        for name in ("href", "action", "data-url"):
            scheme = (element.get(name) or "").partition(":")[0].strip().lower()
            assert scheme not in {"javascript", "data", "vbscript"}


@pytest.fixture
def hostile(workspace: InProcessWorkspace, crawled_projects: CrawledProjects) -> Iterator[Pages]:
    """A site whose pages have markup wherever a page can have text."""
    escaped = escape(SCRIPT + QUOTES)
    page = f"""<!doctype html><html lang="en"><head><title>poison {escaped}</title>
    <meta name="author" content="{escaped}"></head><body><h1>poison</h1><p>It is long, and about many things.</p>
    <h2 id="{escaped}">venom {escaped}</h2><p>{escaped} poison venom</p></body></html>"""
    site = NetworkSite()
    site.page("/", title="Start", links=["/a", "/b?x=%3Cscript%3E"], text="start")
    site.file("/a", page.encode(), "text/html")
    site.page("/b?x=%3Cscript%3E", title="\x01poison\u202e", text=f"poison {SCRIPT}")
    with site.serve(port=PORT) as url:
        workspace.define(f"{url}/")
        crawled_projects.crawl(workspace, site)
        yield Pages(workspace)


def test_titles_texts_sections_and_addresses_are_text(hostile: Pages) -> None:
    for path in (
        "/?q=poison",
        "/?q=venom",
        "/suggestions?q=ven",
        "/suggestions?q=poi",
        "/?q=poison&where=Author%3D" + quote(SCRIPT),
    ):
        answer = hostile.ask(path)
        assert answer.status_code == 200
        assert_harmless(document_fromstring(answer.text))
        assert "\u202e" not in answer.text
    sections = document_fromstring(hostile.ask("/?q=venom").text).cssselect(".sections a")
    assert any(SCRIPT in one.text_content() for one in sections)


HOSTILE_TEXTS = (SCRIPT, QUOTES, f"</title>{SCRIPT}", "{{ 7 * 7 }}", "\x00", b"\xed\xa0\x80", "%%(x)s")
PARAMETERS = ("q", "like", "source", "group", "where", "sort", "page", "language", "next", "url")


def test_what_a_url_says_is_text(pages: Pages) -> None:
    for text in HOSTILE_TEXTS:
        for name in PARAMETERS:
            for start in ("/?q=heron&", "/?", "/suggestions?q=a&"):
                answer = pages.ask(f"{start}{name}={quote(text)}")
                assert answer.status_code in {200, 400, 404}, (start, name, text)
                assert_harmless(document_fromstring(answer.text))
                text_of_page = _VERSION.sub("", answer.text)
                assert "49" not in text_of_page or "7 * 7" in text_of_page


DEAR_QUERIES = (
    "*", "a* b* c* d* e* f* g* h*", "?" * 500, "((((" * 400, '"' * 999, "OR " * 600, "-" * 1999, "heron~9 egret~9",
    " ".join(f"w{number}*" for number in range(300)), "Author:*", "[* TO *]", "x" * 2000, "\u0301" * 1999,
)  # fmt: skip


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_dear_queries_are_answered_or_refused(workspace: InProcessWorkspace, url: str, engine: str) -> None:
    define_project(workspace, url, {"index": {"engine": engine}})
    workspace.crawl()
    pages = Pages(workspace)
    for query in DEAR_QUERIES:
        for path in ("/", "/suggestions"):
            answer = pages.ask(path, params={"q": query, "page": "1000"})
            assert answer.status_code in {200, 400}, (path, query[:40])
            assert_harmless(document_fromstring(answer.text))
    for number in (999, 10**9):
        assert pages.ask("/", params={"q": "bird", "page": str(number)}).status_code == 200
    for name, value in (
        ("q", "x" * 2001),
        ("like", "x" * 2001),
        ("source", ["x"] * 60),
        ("where", ["a=b"] * 60),
    ):
        values = {name: [f"{one}{at}" for at, one in enumerate(value)] if isinstance(value, list) else value}
        assert pages.ask("/", params={**values, "q": values.get("q", "heron")}).status_code == 400, name


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "\x01javascript:alert(1)", " javascript:alert(1)", "java\nscript:x",
     "data:text/html,x", "vbscript:x", "blob:x", "table:orders/1", "unsafe:javascript:x", "", "//evil.example/"],
)  # fmt: skip
def test_a_hit_does_not_link_to_what_no_browser_opens_safely(url: str) -> None:
    assert safe_link(url) == ""


def test_marks_are_the_only_elements_of_snippets_and_titles() -> None:
    assert marked_snippet("<mark>a</mark> <mark>b</mark> <b>x</b>&lt;i&gt;") == (
        "<mark>a b</mark> &lt;b&gt;x&lt;/b&gt;&lt;i&gt;"
    )
    assert (
        marked_title("<b>One</b> two-three", {"two", "three"})
        == "&lt;b&gt;One&lt;/b&gt; <mark>two-three</mark>"
    )
    assert marked_beginnings("<i>Index", "i in (") == "&lt;<b>i</b>&gt;<b>In</b>dex"


FOREIGN_TARGETS = (
    *(
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\/evil.example",
        "javascript:alert(1)",
    ),
    *("/\r\nSet-Cookie: a=b", "/\tx", "", "evil", "///evil.example"),
)


def test_a_form_leads_back_to_this_service_only(pages: Pages) -> None:
    for target in FOREIGN_TARGETS:
        answer = pages.ask("/preferences", method="POST", data={"theme": "dark", "next": target})
        assert (answer.status_code, answer.headers["location"]) == (303, "/"), target
        cookies = answer.headers.get_list("set-cookie")
        assert len(cookies) == 1
        assert "a=b" not in cookies[0]


def test_no_header_is_made_from_a_request(pages: Pages) -> None:
    evil = "x%0d%0aSet-Cookie:%20a=b"
    for path in (
        f"/?q={evil}&language={evil}",
        f"/static/{evil}",
        f"/cached?source={evil}&url={evil}",
        f"/opensearch.xml?language={evil}",
    ):
        for signed_in in (True, False):
            answer = pages.ask(path, signed_in=signed_in)
            assert "a=b" not in str(answer.headers.get_list("set-cookie"))
            assert "\r" not in answer.headers.get("location", "")


@pytest.mark.parametrize("said", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_another_site_cannot_choose_colours(pages: Pages, said: dict[str, str]) -> None:
    answer = pages.ask("/preferences", method="POST", data={"theme": "dark"}, headers=said)
    assert (answer.status_code, answer.headers.get_list("set-cookie")) == (403, [])


CONTROLS = "".join(map(chr, (*range(32), *range(0x7F, 0xA0))))


@pytest.mark.parametrize("path", ["/?q=", "/cached?source=site&url=", "/?q=heron&where=Author%3D"])
def test_a_page_has_no_control_characters(pages: Pages, path: str) -> None:
    page = pages.ask(path + quote(f"heron{CONTROLS}")).text
    assert "heron" in page
    assert {one for one in page if one in CONTROLS} <= {"\n", "\t", "\r", "\f"}


def test_no_page_can_be_framed(pages: Pages) -> None:
    for path in ("/", "/?q=heron", "/cached?source=a&url=b", "/nowhere", "/suggestions?q=a"):
        assert "frame-ancestors 'none'" in pages.ask(path).headers["content-security-policy"]


def test_a_page_that_another_site_asks_for_is_not_compressed(pages: Pages) -> None:
    accepted = {"Accept-Encoding": "gzip"}
    assert pages.ask("/?q=heron", headers=accepted).headers["content-encoding"] == "gzip"
    foreign = {**accepted, "Sec-Fetch-Site": "cross-site"}
    assert "content-encoding" not in pages.ask("/?q=heron", headers=foreign).headers


def test_a_url_is_the_same_after_it_was_read(pages: Pages) -> None:
    from starlette.requests import Request

    query = b"q=a%26b%3D%3Cc%3E&where=Author%3Da%3Db%26c&source=x%2By&page=3&sort=newest&language=de"
    scope = {"type": "http", "query_string": query, "headers": [], "method": "GET", "path": "/"}
    address = SearchAddress.of_request(Request(scope))
    assert address.filters == (("Author", "a=b&c"),)
    assert dict(address.query())["q"] == "a&b=<c>"
    assert (address.page, address.sources) == (3, ("x+y",))
