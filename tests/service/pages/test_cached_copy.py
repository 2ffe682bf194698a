"""Cached copies: for whom, of what, and that nothing in them can act."""

from __future__ import annotations

from typing import Any

import pytest
from lxml.html import document_fromstring, fromstring
from support.network import NetworkSite
from support.pages import Pages

from ultracrawl.service.pages.stored_copies import sanitised

ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' java\tscript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data='javascript:alert(1)'></object><embed src='javascript:alert(1)'>",
    "<form action='https://evil.example/'><input name=password><button>x</button></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href='https://evil.example/'>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>body{background:url(https://evil.example/)}</style>",
    "<p style='background:url(https://evil.example/)'>x</p>",
    "<p onclick='alert(1)' class=top id=main>x</p>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<template><script>alert(1)</script></template>",
    "</article></main><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_copy_can_act(attack: str) -> None:
    copy = fromstring(f"<div>{sanitised(attack, 'https://www.example.com/a/b.html')}</div>")
    for element in copy.iter("*"):
        assert element.tag not in {
            *(
                "script",
                "style",
                "link",
                "meta",
                "base",
                "iframe",
                "object",
                "embed",
                "form",
                "input",
                "button",
            ),
            *("img", "svg", "math", "video", "audio", "source", "template", "noscript"),
        }
        assert not {name for name in element.attrib if name.startswith("on") or name in {"style", "class"}}
        assert element.get("id", "copy-").startswith("copy-")
        assert element.get("href", "https:").split(":")[0].strip() in {"http", "https"}


def test_links_of_a_copy_lead_where_those_of_the_page_lead() -> None:
    html = '<a href="../c.html">c</a><a href="#part">part</a><h2 id="part">Part</h2>'
    copy = fromstring(f"<div>{sanitised(html, 'https://www.example.com/a/b.html')}</div>")
    assert [one.get("href") for one in copy.iter("a")] == ["https://www.example.com/c.html", "#copy-part"]
    assert [one.get("id") for one in copy.iter("h2")] == ["copy-part"]


@pytest.fixture
def site() -> NetworkSite:
    site = NetworkSite()
    paths = ["/plain", "/meta", "/header", "/silent", "/evil", "/wide", "/about", "/moved"]
    site.page("/", title="Start", links=paths, text="all of it")
    site.page("/plain", title="Plain", text="nothing is forbidden here")
    site.page("/meta", title="Meta", text="forbidden by META", robots="noarchive")
    site.page("/header", title="Header", text="forbidden by a header", headers={"X-Robots-Tag": "noarchive"})
    site.page("/silent", title="Silent", text="no text may be shown", robots="nosnippet")
    wide = '<title>Wide</title><meta name="robots" content="NoArchive"><p>forbidden in UTF-16</p>'
    site.file("/wide", wide.encode("utf-16"), "text/html; charset=utf-16")
    site.page("/about", title="About", text="the word noarchive alone has forbidden nothing")
    site.redirect("/moved", "/there", status=302)
    site.page("/there", title="There", text="forbidden to nobody, under the address that leads to it")
    site.page("/evil", title="<script>alert(1)</script>", text="<script>alert(1)</script> evil")
    return site


@pytest.fixture
def stored(make_stored: Any) -> Pages:
    return make_stored()


def test_a_copy_has_what_the_page_said_in_an_origin_of_its_own(stored: Pages, url: str) -> None:
    answer = stored.ask("/cached", params={"source": "site", "url": f"{url}/plain"})
    assert answer.status_code == 200
    page = document_fromstring(answer.text)
    assert "nothing is forbidden here" in page.cssselect("article")[0].text_content()
    policy = answer.headers["content-security-policy"]
    assert {"sandbox", "default-src 'none'"} <= {part.strip() for part in policy.split(";")}
    assert "script-src" not in policy
    assert "allow-" not in policy
    assert "set-cookie" not in answer.headers
    assert "noarchive" in answer.headers["x-robots-tag"]


@pytest.mark.parametrize("path", ["/meta", "/header", "/silent", "/wide"])
def test_what_a_publisher_forbids_is_not_shown(stored: Pages, url: str, path: str) -> None:
    assert stored.ask("/cached", params={"source": "site", "url": f"{url}{path}"}).status_code == 404


def linked_copies(pages: Pages, query: str) -> dict[str, str]:
    """Return the addresses of the cached copies that hits link to, by title; empty for hits without a link."""
    page = document_fromstring(pages.ask("/", params={"q": query}).text)
    found = {}
    for hit in page.cssselect(".hit"):
        links = [one.get("href") for one in hit.cssselect(".details a")]
        copies = [link for link in links if link.startswith("/cached?")]
        found[hit.cssselect("h3")[0].text_content()] = next(iter(copies), "")
    return found


def test_hits_link_to_the_copies_that_exist_and_to_no_others(stored: Pages) -> None:
    links = linked_copies(stored, "forbidden")
    assert set(links) == {"Plain", "Meta", "Header", "Wide", "About", "There"}
    assert {title for title, link in links.items() if link} == {"Plain", "About", "There"}
    assert {stored.ask(link).status_code for link in links.values() if link} == {200}
    assert linked_copies(stored, "silent")["Silent"] == ""


def test_the_text_of_a_page_that_forbids_snippets_is_nowhere(stored: Pages) -> None:
    page = stored.ask("/", params={"q": "silent shown"})
    assert "Silent" in page.text
    assert "no text may be" not in page.text


def test_stored_responses_that_cannot_be_read_take_no_hit_away(stored: Pages) -> None:
    for path in stored.project.documents.path.rglob("*.sqlite*"):
        path.write_bytes(b"no database" * 1000)
    assert set(linked_copies(stored, "forbidden").values()) == {""}


def test_a_directive_in_a_header_is_known_where_other_headers_are_not_stored(
    make_stored: Any, url: str
) -> None:
    pages = make_stored(storage={"keep": True, "headers": False})
    assert pages.ask("/cached", params={"source": "site", "url": f"{url}/header"}).status_code == 404
    assert pages.ask("/cached", params={"source": "site", "url": f"{url}/plain"}).status_code == 200


@pytest.mark.parametrize(
    ("head", "options"),
    [({"search_page": {"cached_copies": False}}, {}), ({}, {"storage": {"keep": False}})],
    ids=["switched off", "nothing is stored"],
)
def test_copies_are_off_if_they_are_switched_off_or_nothing_is_stored(
    make_stored: Any, url: str, head: dict[str, Any], options: dict[str, Any]
) -> None:
    pages = make_stored(head, **options)
    assert pages.ask("/cached", params={"source": "site", "url": f"{url}/plain"}).status_code == 404
    assert "/cached" not in pages.ask("/", params={"q": "nothing forbidden"}).text


def test_a_copy_is_shown_to_those_who_may_see_the_document(make_stored: Any, url: str) -> None:
    pages = make_stored(acl=["staff"])
    assert pages.ask("/cached", params={"source": "site", "url": f"{url}/plain"}).status_code == 404
    assert pages.as_reader_of("staff").ask(
        "/cached", params={"source": "site", "url": f"{url}/plain"}
    ).status_code == 200  # fmt: skip


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("nowhere", "/plain"), ("site", "/../../etc/passwd"), ("../site", "/plain"), ("site", "/none"), ("", "/plain"),
        ("site\x00", "/plain"), ("site", "/plain\x00"),
    ],
)  # fmt: skip
def test_what_does_not_exist_has_no_copy(stored: Pages, url: str, source: str, path: str) -> None:
    answer = stored.ask("/cached", params={"source": source, "url": f"{url}{path}"})
    assert answer.status_code == 404


def test_a_file_url_gives_no_file_of_the_server(stored: Pages) -> None:
    answer = stored.ask("/cached", params={"source": "site", "url": "file:///etc/passwd"})
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_titles_and_texts_of_a_copy_are_escaped(stored: Pages, url: str) -> None:
    answer = stored.ask("/cached", params={"source": "site", "url": f"{url}/evil"})
    assert not document_fromstring(answer.text).cssselect("script")


def test_nobody_sees_a_copy_without_logging_in(stored: Pages, url: str) -> None:
    answer = stored.ask("/cached", signed_in=False, params={"source": "site", "url": f"{url}/plain"})
    assert (answer.status_code, "nothing" in answer.text) == (303, False)
