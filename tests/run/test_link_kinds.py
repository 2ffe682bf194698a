"""The `links` section in real crawls: each kind switched off and on, refreshes, canonical links."""

from __future__ import annotations

from typing import Any

import pytest
from support.network import NetworkSite
from support.project import Workspace
from support.site import Site
from support.until import bounded

from ultracrawl.content.followed import DEFAULT_KINDS
from ultracrawl.content.html.links import links_of_header
from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.model import LinkKind
from ultracrawl.sources.sections.scope.links import LinksSection

MARKUP_TYPES: dict[str, str] = {
    "a": '<a href="/a">x</a>',
    "area": '<map><area href="/area"></map>',
    "frame": "",
    "iframe": '<iframe src="/iframe"></iframe>',
    "canonical": '<link rel="canonical" href="/canonical">',
    "alternate": '<link rel="alternate" href="/alternate">',
    "next": '<link rel="next" href="/next">',
    "meta_refresh": '<meta http-equiv="refresh" content="60; url=/meta_refresh">',
    "link": '<link rel="help" href="/link">',
    "img": '<img src="/img">',
    "script": '<script src="/script"></script>',
    "script_text": '<script>go("/script_text")</script>',
    "style": "<style>@import '/style'; p { background: url(/style2) }</style>",
    "object": '<object data="object" codebase="/"></object>',
    "embed": '<embed src="/embed">',
    "applet": '<applet code="/applet"></applet>',
    "form": '<form action="/form"></form><form method="post" action="/post"></form>',
    "meta": '<meta name="og:url" content="ADDRESS/meta">',
    "comment": "<!-- see ADDRESS/comment -->",
    "layer": '<layer src="/layer"></layer><ilayer src="/ilayer"></ilayer>',
    "card": '<card ontimer="/card"></card>',
    "go": '<go href="/go"></go>',
    "background": '<table background="/background"></table><p style="margin:0;background:url(/background2)">x</p>',
    "media": '<video poster="/media"><track src="/media2"></video><audio src="/media3"></audio>',
    "lazy": '<p data-src="/lazy" data-srcset="/lazy2 2x"></p><p data-url="{{url}}" data-bg="red"></p>',
    "cite": '<blockquote cite="/cite">x</blockquote>',
    "jsonld": '<script type="application/ld+json">{"@type": "/type", "mainEntityOfPage": {"@id": "/jsonld"}}'
    "</script>",
    "ping": '<a ping="/ping /ping2">x</a>',
    "profile": '<p itemtype="/profile">x</p>',
    "text": "<p>see ADDRESS/text.</p>",
}
"""One page has them all; `frame` stands in a frameset, where nothing else may."""

FOUND: dict[str, set[str]] = {
    **{name: {f"/{name}"} for name in MARKUP_TYPES},
    "style": {"/style", "/style2"},
    "layer": {"/layer", "/ilayer"},
    "background": {"/background", "/background2"},
    "media": {"/media", "/media2", "/media3"},
    "lazy": {"/lazy", "/lazy2"},
    "ping": {"/ping", "/ping2"},
    "script_text": {"/script_text", "/type", "/jsonld"},
}
FAST_NAMES = {"form": "action", "script_text": "script_java"}
"""What FAST calls a kind, where the name is another one."""


def everything(address: str) -> bytes:
    head = [
        MARKUP_TYPES[name]
        for name in ("canonical", "alternate", "next", "meta_refresh", "link", "meta", "style")
    ]
    body = [text for text in MARKUP_TYPES.values() if text not in head]
    page = f"<!DOCTYPE html><html><head>{''.join(head)}</head><body>{''.join(body)}</body></html>"
    return page.replace("ADDRESS", address).encode()


def everything_served(site: Site, url: str) -> None:
    site.file("/", everything(url), "text/html")
    site.file(
        "/frames",
        b'<html><head></head><frameset><frame src="/frame"></frameset></html>',
        "text/html",
    )


def asked(site: Site) -> set[str]:
    return site.page_paths() - {"/", "/frames"}


def test_each_kind_is_an_option_with_the_default_of_the_rules() -> None:
    section = LinksSection()
    assert section.kinds == DEFAULT_KINDS
    assert set(MARKUP_TYPES) == {
        kind.name.lower() for kind in LinkKind if kind not in (LinkKind.REDIRECT, LinkKind.SITEMAP)
    }


WITHOUT_FAST_NAME = {"background", "media", "lazy", "cite", "jsonld", "ping", "profile"}


def _id(name: str) -> str:
    return name if name in WITHOUT_FAST_NAME else f"fast_154_170-{FAST_NAMES.get(name, name)}"


@pytest.mark.parametrize("name", MARKUP_TYPES, ids=_id)
def test_a_kind_is_read_if_and_only_if_it_is_on(name: str) -> None:
    off = dict.fromkeys(MARKUP_TYPES, False)
    address = "http://h.example"
    body = everything(address) if name != "frame" else b'<frameset><frame src="/frame"></frameset>'
    for on in (True, False):
        reader = PageReader(link_kinds=LinksSection(**{**off, name: on}).kinds)
        page = reader.read(body, f"{address}/", "text/html")
        assert page is not None
        hrefs = {link.href.removeprefix(address) for link in page.links}
        assert {href.rpartition("/")[2] for href in hrefs} == (
            {path[1:] for path in FOUND[name]} if on else set()
        )


def test_fast_158_markup_in_comments_is_searched_by_the_other_kinds() -> None:
    body = b'<p>x</p><!-- <a href="/a">x</a> <form action="/form"></form> -->'
    for section, found in (
        (LinksSection(comment=True), ["/a"]),
        (LinksSection(comment=True, form=True), ["/a", "/form"]),
    ):
        page = PageReader(link_kinds=section.kinds).read(body, "http://h.example/", "text/html")
        assert page is not None
        assert [link.href for link in page.links] == found


def test_the_default_kinds_are_followed_and_no_others(site: Site, url: str, workspace: Workspace) -> None:
    everything_served(site, url)
    workspace.define(start_urls=[f"{url}/", f"{url}/frames"])
    workspace.crawl(code=1)  # its scripts would say more
    defaults = [kind.name.lower() for kind in DEFAULT_KINDS]
    assert asked(site) == set().union(*(FOUND[name] for name in defaults))


def test_all_kinds_switched_over(site: Site, url: str, workspace: Workspace) -> None:
    everything_served(site, url)
    switched = {name: LinkKind[name.upper()] not in DEFAULT_KINDS for name in MARKUP_TYPES}
    workspace.define(start_urls=[f"{url}/", f"{url}/frames"], links=switched)
    workspace.crawl(code=1)  # its scripts would say more
    assert asked(site) == set().union(*(FOUND[name] for name, on in switched.items() if on))


def test_a_kind_that_is_switched_on_later_is_found_in_unchanged_pages(
    site: Site, url: str, workspace: Workspace
) -> None:
    everything_served(site, url)
    workspace.define(f"{url}/")
    workspace.crawl(code=1)  # its scripts would say more
    workspace.define(f"{url}/", links={"form": True})
    workspace.crawl(code=1)  # its scripts would say more
    assert site.count("/form") == 1


def test_links_are_taken_from_pages_of_the_listed_types_only(
    site: Site, url: str, workspace: Workspace
) -> None:
    """FAST option 45, `uri_search_mime`."""
    site.page("/", title="Home", links=["/plain"], text="words")
    site.file("/plain", f"see {url}/found".encode(), "text/plain")
    workspace.define(f"{url}/", links={"text": True})
    workspace.crawl()
    assert site.count("/found") == 1
    workspace.define(f"{url}/", links={"text": True, "types": ["text/plain"]})
    site.page("/", title="Home", links=["/other"], text="other words")
    workspace.crawl()
    assert site.count("/other") == 0
    assert workspace.search("other") == ["/"]


def test_a_phone_page_is_followed(site: Site, url: str, workspace: Workspace) -> None:
    deck = b'<?xml version="1.0"?><wml><card id="m" ontimer="/next"><do><go href="/menu"/></do></card></wml>'
    site.file("/", deck, "text/vnd.wap.wml")
    workspace.define(f"{url}/", types=["text/*"], links={"card": True, "go": True})
    workspace.crawl()
    assert asked(site) == {"/next", "/menu"}


# ---- refresh


REFRESHES: dict[str, tuple[dict[str, Any], str, str]] = {
    "fast_44_example_22-3 seconds": ({}, "3; url=/target", "REDIRECTED"),
    "fast_44_example_22-4 seconds": ({}, "4; url=/target", "NEW"),
    "fast_44-threshold raised": ({"refresh_seconds": 10}, "9; url=/target", "REDIRECTED"),
    "fast_44-threshold lowered": ({"refresh_seconds": 0}, "1; url=/target", "NEW"),
    "fast_43-no redirect": ({"refresh_redirects": False}, "0; url=/target", "NEW"),
    "reloads itself": ({}, "0", "NEW"),
}


@pytest.mark.parametrize("case", REFRESHES)
@pytest.mark.parametrize("where", ["meta", "header"])
def test_refresh(site: Site, url: str, workspace: Workspace, case: str, where: str) -> None:
    """A Refresh header is treated like META refresh; either may be a link where it is no redirect."""
    links, value, outcome = REFRESHES[case]
    if where == "meta":
        site.page("/", title="x", text="words", head=f'<meta http-equiv="refresh" content="{value}">')
    else:
        site.page("/", title="x", text="words", headers={"Refresh": value})
    site.page("/target", title="Target", text="needle")
    workspace.define(f"{url}/", links=links)
    workspace.crawl()
    row = workspace.urls()["/"]
    assert row["outcome"] == outcome
    assert row["status_code"] == (953 if outcome == "REDIRECTED" else 200)
    assert site.count("/target") == ("target" in value)


@pytest.mark.parametrize("where", ["meta", "header"])
def test_a_slow_refresh_is_no_link_when_that_kind_is_off(
    site: Site, url: str, workspace: Workspace, where: str
) -> None:
    value = "60; url=/target"
    head = f'<meta http-equiv="refresh" content="{value}">' if where == "meta" else ""
    headers = {"Refresh": value} if where == "header" else None
    site.page("/", title="x", head=head, headers=headers, text="words")
    workspace.define(f"{url}/", links={"meta_refresh": False})
    workspace.crawl()
    assert site.count("/target") == 0


def test_a_refresh_header_out_of_the_boundary_is_refused(site: Site, url: str, workspace: Workspace) -> None:
    other = NetworkSite()
    other.page("/target", title="Elsewhere")
    with other.serve(host="127.0.0.2") as elsewhere:
        site.page("/", title="x", headers={"Refresh": f"0; url={elsewhere}/target"})
        workspace.define(f"{url}/")
        workspace.crawl(code=None)
    assert other.requests == []
    row = workspace.urls()["/"]
    assert (row["outcome"], row["status_code"]) == ("REJECTED", 953)
    assert row["reason"].startswith("30040 ")


def test_the_header_wins_over_meta() -> None:
    body = b'<meta http-equiv="refresh" content="9; url=/meta">'
    page = PageReader().read(body, "http://h.example/", "text/html", PageHeaders(refresh="1; url=/header"))
    assert page is not None
    assert page.refresh == (1.0, "/header")
    nonsense = PageReader().read(body, "http://h.example/", "text/html", PageHeaders(refresh="soon"))
    assert nonsense is not None
    assert nonsense.refresh == (9.0, "/meta")


# ---- relations in the header Link

RELATIONS = {
    "Link": '</canonical>; rel="canonical", </alternate>; rel=alternate; hreflang=de,'
    ' </next>; rel="next"; title="a, <b>; c", </link>; rel=license, </preconnect>; rel=preconnect,'
    ' </of-another>; rel=next; anchor="/another"'
}


@pytest.mark.parametrize("switched", ["", "canonical", "alternate", "next", "link"])
def test_relations_of_a_header_are_links_of_their_kind(
    site: Site, url: str, workspace: Workspace, switched: str
) -> None:
    site.file("/", b"plain words", "text/plain", headers=RELATIONS)
    defaults = {"canonical", "alternate", "next"}
    workspace.define(f"{url}/", links={switched: switched not in defaults} if switched else {})
    workspace.crawl(code=None)
    assert asked(site) == {f"/{name}" for name in defaults ^ ({switched} - {""})}


def test_relations_of_a_header_are_relative_to_the_page_not_to_its_base() -> None:
    head = PageHeaders(links=["<next>; rel=next, <canon>; rel=canonical"])
    page = PageReader().read(
        b'<base href="/other/"><a href="b">x</a>', "http://h.example/a/", "text/html", head
    )
    assert page is not None
    assert [link.href for link in page.links] == [
        "b",
        "http://h.example/a/next",
        "http://h.example/a/canon",
    ]
    assert page.canonical == "http://h.example/a/canon"


def test_a_canonical_link_in_the_page_precedes_that_of_the_header() -> None:
    head = PageHeaders(links=["</header>; rel=canonical"])
    for body, found in ((b"<p>x</p>", "/header"), (b"<link rel=canonical href=/page>", "/page")):
        page = PageReader().read(body, "http://h.example/", "text/html", head)
        assert page is not None
        assert page.canonical == found


def test_a_document_that_is_converted_has_the_relations_of_its_header(
    site: Site, url: str, workspace: Workspace
) -> None:
    rtf = rb"{\rtf1 needle in a document}"
    for path in ("/a.rtf", "/b.rtf"):
        site.file(path, rtf, "application/rtf", headers={"Link": "</canon>; rel=canonical"})
    site.page("/canon", title="Canonical", text="other words")
    workspace.define(start_urls=[f"{url}/a.rtf"], attributes={"canonical": "Subject"})
    workspace.crawl()
    assert site.count("/canon") == 1
    (hit,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert hit["attributes"]["Subject"] == [f"{url}/canon"]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("<" * 20_000, 0),
        ("<a>" + "; a" * 20_000, 1),
        ("<a>;" + " " * 50_000, 1),
        ('<a>; a="' + "\\" * 20_000, 1),
        ("<a>; b=" * 9000, 9000),
    ],
    ids=["brackets", "parameters", "blanks", "escapes", "links"],
)
def test_a_hostile_header_is_read_in_linear_time(value: str, number: int) -> None:
    with bounded():
        assert len(list(links_of_header([value]))) == number


# ---- attributes of a kind


@pytest.mark.parametrize(
    ("kind", "html", "found"),
    [
        ("form", "<form method=post action=/p><button formaction=/b></button></form>", []),
        ("form", "<form method=post><button formmethod=GET formaction=/b></button></form>", ["/b"]),
        ("form", "<form method=post><input formmethod=get formaction=/b></form>", ["/b"]),
        ("form", "<form action=/f><button formmethod=post formaction=/b></button></form>", ["/f"]),
        ("form", "<form id=f></form><button form=f formaction=/b></button>", []),
        ("object", "<object codebase=/c/ data=d archive='e f'></object>", ["d", "e", "f"]),
        ("object", "<object codebase=/c/></object>", ["/c/"]),
        ("applet", "<applet object=/o></applet>", ["/o"]),
        ("img", "<svg><image xlink:href=/i /></svg><img lowsrc=/l>", ["/i", "/l"]),
        ("a", "<svg><a xlink:href=/a><text>x</text></a></svg>", ["/a"]),
        ("link", "<html manifest=/m><link rel=preload imagesrcset='/i 2x'>", ["/m", "/i"]),
        ("frame", "<frameset><frame longdesc=/l><noframes><a href=/a>x</a></noframes>", ["/l", "/a"]),
        ("iframe", "<iframe longdesc=/l></iframe>", ["/l"]),
        ("layer", "<layer src=/s background=/b></layer>", ["/s"]),
        ("background", "<layer src=/s background=/b></layer>", ["/b"]),
        ("lazy", "<p data-href='a b' data-url=x data-src='javascript(1)/'></p>", ["javascript(1)/"]),
        (
            "jsonld",
            '<script type=application/ld+json>{"url": "/u", "sameAs": ["http://h/s", "s"]}</script>',
            ["/u", "http://h/s"],
        ),
        (
            "jsonld",
            '<script type=application/ld+json>{"target": "http://h/?q={q}", "@id": "#o"}</script>',
            [],
        ),
        ("jsonld", "<script type=application/ld+json>{broken</script>", []),
        ("profile", "<head profile=/p></head><p vocab=/v></p>", ["/p", "/v"]),
        ("comment", "<!-- http://h/a --><html></html><!-- http://h/b -->", ["http://h/a", "http://h/b"]),
    ],
)
def test_attributes_of_a_kind(kind: str, html: str, found: list[str]) -> None:
    kinds = frozenset(
        {LinkKind[kind.upper()], LinkKind.A} if "noframes" in html else {LinkKind[kind.upper()]}
    )
    page = PageReader(kinds).read(html.encode(), "http://h.example/", "text/html")
    assert page is not None
    hrefs = [link.href.removeprefix("http://h.example/c/") for link in page.links]
    assert hrefs == found


# ---- canonical links and attributes from headers


def test_a_canonical_link_is_an_attribute_and_a_link(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/p?print=1"])
    site.page("/p?print=1", title="Page", text="needle", head='<link rel="canonical" href="/p#top">')
    site.page("/p", title="Page", text="needle in full")
    workspace.define(f"{url}/", attributes={"canonical": "Subject"})
    workspace.crawl()
    assert site.count("/p") == 1
    hits = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert {hit["url"]: hit["attributes"].get("Subject") for hit in hits} == {
        f"{url}/p?print=1": [f"{url}/p"],
        f"{url}/p": None,
    }


def test_a_canonical_link_out_of_the_boundary_is_an_attribute_only(
    site: Site, url: str, workspace: Workspace
) -> None:
    head = '<link rel="canonical" href="http://elsewhere.invalid/p">'
    site.page("/", title="Home", text="needle", head=head)
    workspace.define(f"{url}/", attributes={"canonical": "Subject"})
    workspace.crawl()
    (hit,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert hit["attributes"]["Subject"] == ["http://elsewhere.invalid/p"]
    assert list(workspace.urls()) == ["/"]


def test_ultra_search_47_attributes_come_from_headers_or_meta(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle", headers={"X-Product": "Hammer", "X-Other": "y"})
    site.page("/meta", title="Meta", text="needle", head='<meta name="x-product" content="Saw">')
    workspace.define(start_urls=[f"{url}/", f"{url}/meta"], attributes={"X-Product": "Subject"})
    workspace.crawl()
    hits = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert {hit["attributes"]["Subject"][0] for hit in hits} == {"Hammer", "Saw"}
    assert workspace.search("Subject:hammer") == ["/"]


def test_ultra_search_58_59_the_description_of_a_page_without_one(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle in the text")
    workspace.define(f"{url}/")
    workspace.crawl()
    (hit,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert "Description" not in hit["attributes"]
    workspace.define(f"{url}/", description_fallback=True)
    workspace.crawl()
    (hit,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert hit["attributes"]["Description"] == ["needle in the text"]
