"""One parse of an HTML page: title, text, META, directives, links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.until import bounded

from ultracrawl.content.followed import DEFAULT_KINDS
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.selection import PagePicks, css_pick
from ultracrawl.content.reader import PageReader
from ultracrawl.model import LinkKind, Page, RobotsDirectives

URL = "https://example.com/dir/page.html"


def parse(html: str, **options: object) -> Page:
    return parse_html(html.encode(), url=URL, **options)  # type: ignore[arg-type]


TITLES: dict[str, tuple[str, str]] = {
    "entities": ("<title>A &amp; B</title>", "A & B"),
    "white-space": ("<title>\n a\t b&nbsp;c </title>", "a b c"),
    "first": ("<title>one</title><title>two</title>", "one"),
    "svg-title-is-none": ("<svg><title>icon</title></svg><title>page</title>", "page"),
    "in-body": ("<body><title>late</title>", "late"),
    "empty": ("<title></title>", ""),
    "before-hidden-elements": ("<title>first</title>" + "<p hidden>x</p>" * 500, "first"),
    "none": ("<p>x", ""),
    "markup-is-text": ("<title>a <b>c</title>", "a <b>c"),
}


def test_html_title(subtests: pytest.Subtests) -> None:
    for name, (html, title) in TITLES.items():
        with subtests.test(name):
            assert parse(html).title == title


TEXTS: dict[str, tuple[str, str]] = {
    "blocks-part-words": ("<p>one</p><p>two</p>", "one two"),
    "text-after-a-block": ("<div>one</div>two", "one two"),
    "block-in-inline": ("<span><div>in</div></span>out", "in out"),
    "inline-does-not-split": ("<b>J</b>ohn <i>D</i>oe", "John Doe"),
    "br-hr": ("a<br>b<hr>c", "a b c"),
    "list": ("<ul><li>a<li>b</ul>c", "a b c"),
    "table": ("<table><tr><td>1<td>2<tr><th>3</table>", "1 2 3"),
    "white-space-folded": ("a \n\t b&nbsp;&nbsp;c", "a b c"),
    "no-programs": ("x<script>s</script><style>t</style><template>u</template>y", "xy"),
    "shadow-root": ("<x-y><template shadowrootmode=open><p>u</p></template>y</x-y>", "u y"),
    "shadow-root-with-a-template": (
        "<x-y><template shadowrootmode='closed'><template>no</template>u</template></x-y>y",
        "uy",
    ),
    "no-shadow-root": ("<template shadowrootmode=shut>no</template>y", "y"),
    "no-tag": ("<script>'<template shadowrootmode=open>'</script><template>no</template>y", "y"),
    "no-noscript": ("x<noscript>enable it</noscript>y", "xy"),
    "no-nav": ("<nav>menu <p>more</p></nav>text", "text"),
    "no-role-navigation": ("<div role=navigation>menu</div>text", "text"),
    "header-and-footer-stay": ("<header>head</header>a<footer>foot</footer>", "head a foot"),
    "hidden": ("<p hidden>no<b>no</b></p>yes", "yes"),
    "display-none": ("<p style='color:red; display : none'>no</p>yes", "yes"),
    "display-block": ("<p style='display:block'>yes", "yes"),
    "data-nosnippet": ("a<span data-nosnippet>no</span>b", "ab"),
    "no-svg": ("<svg><text>no</text></svg>yes", "yes"),
    "googleoff": ("a<!--googleoff: index-->no<p>no</p><!--googleon: index-->b", "a b"),
    "googleoff-all": ("a<!--googleoff: all-->no<!--googleon: all-->b", "ab"),
    "googleoff-snippet-indexes": ("a<!--googleoff: snippet-->yes", "ayes"),
    "stopindex": ("a<!-- stopindex -->no<!-- startindex -->b", "ab"),
    "noindex-comment": ("a<!--noindex-->no<!--/noindex-->b", "ab"),
    "iframe": ("<iframe>no</iframe>yes", "yes"),
    "entities": ("<p>&lt;b&gt; &eacute; &#x41;", "<b> é A"),
    "options": ("<select><option>a<option>b</select>", "a b"),
    "chosen-option": (
        "<select><button><selectedcontent></selectedcontent></button><option>a<option selected>b</select>",
        "a b",
    ),
    "nav-last-in-its-parents": ("<div><div><nav>no</nav></div></div><p>yes", "yes"),
    "upper-case": ("<P>one</P>two<Br>three<B>F</B>our", "one two threeFour"),
    "blocks-that-are-hidden-part-words": ("a<nav><p>no</nav>b", "a b"),
    "others-that-are-hidden-do-not": ("a<nav><svg>no</svg></nav>b", "ab"),
    "a-block-ends-a-picture": ("a<svg><p>b", "a b"),
    "a-block-ends-pictures": ("a<svg><svg><p>b", "a b"),
    "blocks-that-are-hidden-twice-part": ("a<nav><video><p>no</video></nav>b", "a b"),
    "what-looks-like-blocks-does-not": ("a<iframe><p>no</iframe>b", "ab"),
    "form-feed": ("a\fb<p>\fc", "a b c"),
    "nul": ("a\0-\0b\0i\0", "a-bi"),
    "text-that-looks-like-a-block": ("x<textarea>a<p>b</textarea>y", "x a<p>b y"),
    "googleon-out-of-sight": ("a<!--googleoff: all-->no<nav>no<!--googleon: all--></nav>b", "ab"),
    "the-last-switch-out-of-sight": (
        "a<nav><!--noindex--><nav><!--/noindex--><!--noindex--></nav>x</nav>no<!--/noindex-->b",
        "ab",
    ),
    "unknown-elements-do-not-split": ("a<p-x>b</p-x>c", "abc"),
}


def test_html_text(subtests: pytest.Subtests) -> None:
    for name, (body, text) in TEXTS.items():
        with subtests.test(name):
            assert parse(f"<title>t</title><body>{body}").text == text


INVISIBLE = [
    "opacity:0",
    "color:red;OPACITY : 0.0 !important",
    "opacity:0%",
    "font-size:0",
    "font-size: 0px; color: red",
    "visibility:hidden",
    "visibility : collapse;",
    "position:absolute;left:-9999px",
    "left:-999px; position: fixed",
    "position:absolute;top:-200em",
    "text-indent:-9999px",
    "position:absolute;clip:rect(0,0,0,0)",
    "clip: rect(1px 1px 1px 1px); position:absolute",
    "clip-path:inset(50%)",
    "display:none",
]
VISIBLE = [
    "opacity:0.9",
    "opacity:.5",
    "opacity:0;transform:translateY(20px)",
    "opacity:0;transition:opacity 1s",
    "font-size:0.9em",
    "font-size:09px",
    "line-height:0",
    "visibility:visible",
    "left:-9999px",
    "position:absolute;left:-99px",
    "position:relative;left:-9999px",
    "position:absolute;left:0",
    "text-indent:-20px",
    "clip:rect(0,0,0,0)",
    "position:absolute;clip:rect(0,100px,50px,0)",
    "background:url(display:none.png)",
    "--opacity:0",
    "fill-opacity:0",
]


def test_text_that_its_style_makes_invisible_is_no_content_but_has_links(subtests: pytest.Subtests) -> None:
    for style in INVISIBLE:
        with subtests.test(style):
            page = parse(f"<title>t</title><p>a<div style='{style}'>no <b>no</b><a href=/x>no</a></div>b")
            assert (page.text, hrefs(page)) == ("a b", ["/x"])


def test_text_that_can_be_seen_is_content(subtests: pytest.Subtests) -> None:
    for style in VISIBLE:
        with subtests.test(style):
            assert parse(f"<title>t</title><p>a<div style='{style}'>yes</div>b").text == "a yes b"


SHOWN = [
    "<body style='opacity:0'>yes",
    "<body style='visibility:hidden'>yes",
    "<main style='opacity:0'>yes</main>",
    "<div style='opacity:0' data-w-id=7>yes</div>",
    "<div style='font-size:0'><span style='font-size:16px'>yes</span></div>",
    "<span class=sr-only>yes</span>",
]


def test_what_scripts_or_children_show_is_content(subtests: pytest.Subtests) -> None:
    for body in SHOWN:
        with subtests.test(body):
            assert parse(f"<title>t</title>{body}").text == "yes"


def test_html_that_is_hidden_as_a_whole_has_no_text_but_links() -> None:
    page = parse("<html hidden><title>t</title><p>no<a href=/x>link</a>")
    assert (page.text, page.title, hrefs(page)) == ("", "", ["/x"])


def test_html_tags_in_values_stay_as_they_are() -> None:
    page = parse(
        "<title>a<p>b</title><meta name=description content='one<br>two'><a href='/x<p>y'>a<br>b</a>"
        "<map><area href=/area alt='c<p>d'></map>"
    )
    assert (page.title, page.meta["description"]) == ("a<p>b", ["one<br>two"])
    assert [(link.href, link.text) for link in page.links] == [("/x<p>y", "a b"), ("/area", "c<p>d")]


def test_html_elements_that_a_source_picks_are_those_of_the_page() -> None:
    picks = PagePicks((css_pick("empty", "td:empty", "id"), css_pick("data", "p", "title")))
    page = parse("<table><tr><td id=a></td></table><p title='x<p>y'>z", picks=picks)
    assert page.picked == {"empty": ["a"], "data": ["x<p>y"]}


def hrefs(page: Page) -> list[str]:
    return [link.href for link in page.links]


PARTS = """
<link rel=canonical href=/c><link rel=alternate href=/alt><link rel=next href=/n>
<link rel=stylesheet href=/css>
<link rel="preconnect" href=https://cdn.example><link rel=sitemap href=/sm><meta name=x content="https://m.example/">
<meta http-equiv=refresh content="5; url=/r"><style>@import "i.css"; p{background:url('b.png')}</style>
<script src=/s.js>var u = "/from/script"; var v = 'x y'; go('next.html?a=1')</script>
<a href=/a>A</a><map><area href=/area alt=Area></map>
<img src=/i.png srcset="/i2.png 2x, /i3.png 3x" longdesc=/long>
<iframe src=/if></iframe><object data=d.swf codebase=/cb/></object><embed src=/e>
<applet code=App codebase=/ap/></applet>
<form action=/get></form><form action=/post method=post></form>
<layer src=/l></layer><ilayer src=/il></ilayer>
<card onenterforward=/of ontimer=/ot><go href=/go></go></card>
<!-- <a href=/in-comment>x</a> https://c.example/x. --> see https://t.example/page.
"""


KINDS: list[tuple[LinkKind, list[str]]] = [
    (LinkKind.A, ["/a"]),
    (LinkKind.AREA, ["/area"]),
    (LinkKind.IFRAME, ["/if"]),
    (LinkKind.IMG, ["/i.png", "/i2.png", "/i3.png", "/long"]),
    (LinkKind.LINK, ["/css"]),
    (LinkKind.CANONICAL, ["/c"]),
    (LinkKind.ALTERNATE, ["/alt"]),
    (LinkKind.NEXT, ["/n"]),
    (LinkKind.SITEMAP, ["/sm"]),
    (LinkKind.META, ["https://m.example/"]),
    (LinkKind.META_REFRESH, ["/r"]),
    (LinkKind.SCRIPT, ["/s.js"]),
    (LinkKind.SCRIPT_TEXT, ["/from/script", "next.html?a=1"]),
    (LinkKind.STYLE, ["i.css", "b.png"]),
    (LinkKind.OBJECT, ["https://example.com/cb/d.swf"]),
    (LinkKind.EMBED, ["/e"]),
    (LinkKind.APPLET, ["https://example.com/ap/App"]),
    (LinkKind.FORM, ["/get"]),
    (LinkKind.LAYER, ["/l", "/il"]),
    (LinkKind.CARD, ["/of", "/ot"]),
    (LinkKind.GO, ["/go"]),
    (LinkKind.COMMENT, ["https://c.example/x"]),
    (LinkKind.TEXT, ["https://t.example/page"]),
]


def test_html_links_of_one_kind(subtests: pytest.Subtests) -> None:
    for kind, expected in KINDS:
        with subtests.test(kind=kind, expected=expected):
            page = parse(PARTS, link_kinds=frozenset({kind}))
            assert hrefs(page) == expected
            assert {link.kind for link in page.links} == {kind}


def test_html_frames() -> None:
    assert hrefs(parse("<frameset><frame src=/f1><frame src=/f2></frameset>")) == ["/f1", "/f2"]


def test_html_markup_in_comments_is_read_by_the_other_rules() -> None:
    page = parse(PARTS, link_kinds=frozenset({LinkKind.A, LinkKind.COMMENT}))
    assert hrefs(page) == ["/a", "/in-comment", "https://c.example/x"]


def test_html_default_links_in_document_order() -> None:
    assert hrefs(parse(PARTS)) == ["/c", "/alt", "/n", "/r", "/a", "/area", "/if"]
    assert LinkKind.IMG not in DEFAULT_KINDS


def test_html_links_once_with_text_and_nofollow() -> None:
    page = parse(
        "<nav><a href=' /x '>Go  <b>th</b>ere</a></nav><a href=/x>again</a><a href=#top>top</a>"
        "<a href=''>e</a>"
        "<a rel='ugc NoFollow' href=/y>y</a><a rel=nofollow href=/x>x</a><a>no href</a>"
    )
    assert [(link.href, link.text, link.nofollow) for link in page.links] == [
        ("/x", "Go there", False),
        ("/y", "y", True),
        ("/x", "x", True),
    ]


BASES = [
    ("<base href=/b/>", "https://example.com/b/"),
    ("<base href=sub/><base href=/two/>", "https://example.com/dir/sub/"),
    ("<base target=x><base href=//o.example/>", "https://o.example/"),
    ("<base href=javascript:x>", ""),
    ("<base href='http://['>", ""),
    ("", ""),
]


def test_html_base(subtests: pytest.Subtests) -> None:
    for head, base in BASES:
        with subtests.test(head):
            assert parse(head).base == base


STANDARD_BASES: dict[str, tuple[str, str]] = {
    "no-port": ("<base href='http://a:b/'>", ""),
    "no-host": ("<base href='http://a b/'>", ""),
    "slashes-collapse": ("<base href='http:///host/x/'>", "http://host/x/"),
    "slashes-collapse-https": ("<base href='https:///host/x/'>", "https://host/x/"),
    "backslashes": (r"<base href='\\host\x\'>", "https://host/x/"),
    "the-first-counts-usable-or-not": ("<base href='http://[/'><base href=/two/>", ""),
}


def test_html_base_by_the_url_standard(subtests: pytest.Subtests) -> None:
    for name, (head, base) in STANDARD_BASES.items():
        with subtests.test(name):
            assert parse(head).base == base


def test_html_head_facts() -> None:
    page = parse(
        "<html lang=' de-AT '><head><link rel=canonical href=' /c '><link rel=canonical href=/d>"
        "<meta name=Author content=' A '><meta name=author content=B><meta property=og:title content=T>"
        "<meta http-equiv=Refresh content='3;URL=/n'><meta name=empty>"
    )
    assert (page.language, page.canonical, page.refresh) == ("de-AT", "/c", (3.0, "/n"))
    assert page.meta == {"author": ["A", "B"], "og:title": ["T"]}, "ultra_search_47"


ORDERS = (
    "<base href=/elsewhere/><link rel=canonical href=/other><meta name=robots content=noindex>"
    "<meta name=ultracrawl content=nofollow><meta http-equiv=refresh content='0; url=/notice'>"
)
REACHED = ("/elsewhere/", "/other", False, False, (0.0, "/notice"))
"""Where the orders above are read."""


def orders(page: Page) -> tuple[object, ...]:
    """Return what a page says about itself; the base without the host."""
    base = page.base.removeprefix("https://example.com")
    return base, page.canonical, page.robots.index, page.robots.follow, page.refresh


INERT = {
    "noscript-in-head": f"<head><noscript>{ORDERS}</noscript></head>",
    "noscript-in-body": f"<head></head><body><NOSCRIPT>{ORDERS}</NOSCRIPT>",
    "deep-in-noscript": f"<body><noscript><div><p>{ORDERS}</p></div></noscript>",
    "behind-a-picture-in-it": f"<head><noscript><img src=x>{ORDERS}</noscript></head>",
    "noscript-with-an-open-comment": f"<body><noscript><!-- {ORDERS}</noscript>",
    "template-in-head": f"<head><template>{ORDERS}</template></head>",
    "template-in-body": f"<body><template><div>{ORDERS}</div></template>",
    "shadow-root": f"<body><template shadowrootmode=open>{ORDERS}</template>",
    "svg": f"<body><svg><foreignObject>{ORDERS}</foreignObject></svg>",
    "math": f"<body><math><annotation-xml encoding='text/html'>{ORDERS}</annotation-xml></math>",
    "iframe": f'<body><iframe srcdoc="{ORDERS}">{ORDERS}</iframe>',
    "no-frames": f"<body><noembed>{ORDERS}</noembed><noframes>{ORDERS}</noframes>",
    "text": f"<body><textarea>{ORDERS}</textarea><xmp>{ORDERS}</xmp>",
    "title": f"<head><title>{ORDERS}</title></head>",
    "script": f"<head><script>'{ORDERS}'</script><style>{ORDERS}</style></head>",
    "comment": f"<head><!-- {ORDERS} --></head>",
}


def test_what_stands_in_an_inert_element_is_no_order(subtests: pytest.Subtests) -> None:
    for name, page in INERT.items():
        with subtests.test(name):
            found = parse(page)
            assert orders(found) == ("", "", True, True, None)
            assert {link.kind for link in found.links}.isdisjoint({LinkKind.CANONICAL, LinkKind.META_REFRESH})
            assert orders(parse(f"{page}{ORDERS}")) == REACHED or "<title>" in page, "and ends with it"


AROUND = [
    "head",
    "body",
    "div",
    "form",
    "canvas",
    "p hidden",
    "noscript></noscript",
    "noscript><noscript></noscript",
]


def test_orders_count_wherever_a_browser_obeys_them(subtests: pytest.Subtests) -> None:
    for around in AROUND:
        with subtests.test(around):
            assert orders(parse(f"<{around}>{ORDERS}")) == REACHED


def test_links_in_noscript_are_followed() -> None:
    page = parse("<noscript><link rel=next href=/n><p><a href=/a>a</a><iframe src=/f></iframe></noscript>")
    assert [(link.href, link.kind, link.text) for link in page.links] == [
        ("/n", LinkKind.NEXT, ""),
        ("/a", LinkKind.A, "a"),
        ("/f", LinkKind.IFRAME, ""),
    ]


NOTICES = ["<p>no scripts", "<div><b>no", "<!-- no", "<template>", "<textarea>no"]


def test_what_is_open_in_noscript_ends_with_it(subtests: pytest.Subtests) -> None:
    for notice in NOTICES:
        with subtests.test(notice):
            page = parse(f"<noscript>{notice}</noscript><h1>Heading</h1><p>text <a href=/a>a</a>")
            assert (page.text, hrefs(page), len(page.sections)) == ("Heading text a", ["/a"], 1)


def test_html_description_stays_empty_without_a_description_tag_ultra_search_58() -> None:
    assert "description" not in parse("<p>some words").meta


def test_html_language_from_the_pragma() -> None:
    assert parse("<meta http-equiv=Content-Language content='fr, en'>").language == "fr"


ROBOTS: dict[str, tuple[str, list[str], tuple[bool, bool]]] = {
    "ultra_search_82-noindex": ("<meta name=ROBOTS content=NoIndex>", [], (False, True)),
    "ultra_search_83-nofollow": ("<meta name=robots content=nofollow>", [], (True, False)),
    "by-our-name": ("<meta name=ultracrawl content=none>", [], (False, False)),
    "by-another-name": ("<meta name=otherbot content=none>", [], (True, True)),
    "http-equiv": ("<meta http-equiv=robots content=noindex>", [], (False, True)),
    "header": ("<p>", ["noindex"], (False, True)),
    "both": ("<meta name=robots content=noindex>", ["nofollow"], (False, False)),
}


def test_html_robots(subtests: pytest.Subtests) -> None:
    for name, (html, headers, expected) in ROBOTS.items():
        with subtests.test(name):
            page = parse(html + "<a href=/x>x</a>", x_robots_tag=headers)
            assert page.robots == RobotsDirectives(*expected)
            assert hrefs(page) == ["/x"]


CHARSETS: dict[str, tuple[bytes, str, str, str]] = {
    "utf-8": ("<p>Grüße".encode(), "", "Grüße", "utf-8"),
    "header": ("<p>Grüße".encode("cp1252"), "text/html; charset=ISO-8859-1", "Grüße", "cp1252"),
    "meta": ("<meta charset=koi8-r><p>Привет".encode("koi8-r"), "", "Привет", "koi8-r"),
    "mark-wins": ("\ufeff<p>Grüße".encode("utf-16-le"), "text/html; charset=koi8-r", "Grüße", "utf-16-le"),
    "broken-utf-8": (b"<p>Gr\xfc\xdfe", "text/html; charset=utf-8", "Grüße", "cp1252"),
}


def test_html_charset(subtests: pytest.Subtests) -> None:
    for name, (body, content_type, text, charset) in CHARSETS.items():
        with subtests.test(name):
            page = parse_html(body, url=URL, content_type=content_type)
            assert (page.text, page.charset) == (text, charset)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<div>" * 100_000 + b"end", id="open-divs"),
        pytest.param(b"<div>" * 100_000 + b"end" + b"</div>" * 100_000, id="closed-divs"),
        pytest.param(b"<span>" * 60_000 + b"end" + b"</x>" * 60_000, id="unknown-end-tags"),
        pytest.param(b"<table><tr><td><a href=q>" * 20_000 + b"end" * 100_000, id="nested-anchors"),
        pytest.param(b"<div></x>" * 50_000 + b"end", id="stray-end-tags"),
        pytest.param(("\ufeff" + "<div>" * 50_000 + "end").encode("utf-16-le"), id="in-utf-16"),
    ],
)
def test_html_deep_nesting_is_cut_and_said(body: bytes) -> None:
    with bounded():
        page = parse_html(body, url=URL)
    assert page.text.endswith("end")
    assert page.truncated


def test_html_of_five_megabytes() -> None:
    page = parse_html(b"<p>hello <a href=/x>w</a></p>" * 180_000, url=URL)
    assert len(page.text) > 1_000_000
    assert hrefs(page) == ["/x"]
    assert not page.truncated


BROKEN: list[bytes] = [
    b"",
    b"<",
    b"<a",
    b"<!--",
    b"\0\0\0",
    b"\xff\xfe",
    b"<meta charset=",
    b"<base href=//[>",
]


def test_html_broken_input(subtests: pytest.Subtests) -> None:
    for body in BROKEN:
        with subtests.test(body=body):
            assert parse_html(body, url=URL).links == ()


_ALL_KINDS = frozenset(LinkKind)
_PIECES = st.sampled_from(
    [
        "<a href=x>",
        "</a>",
        "<nav>",
        "</nav>",
        "<table>",
        "<td>",
        "<svg>",
        "<title>",
        "</title>",
        "<template>",
        "<!--",
        "-->",
        "<p hidden>",
        "<base href='//['>",
        "<img srcset='a 1x,('>",
        "<meta charset=utf-16>",
        "<go href=y>",
        "\x00",
        "text",
        "<",
    ]
)


@given(st.binary(max_size=200), st.text(max_size=30))
def test_html_never_raises_on_bytes(body: bytes, content_type: str) -> None:
    parse_html(body, url=URL, content_type=content_type, link_kinds=_ALL_KINDS)


@given(st.lists(_PIECES, max_size=40))
def test_html_never_raises_on_markup(pieces: list[str]) -> None:
    page = parse("".join(pieces), link_kinds=_ALL_KINDS)
    assert page.text == " ".join(page.text.split())


EMPTY = (
    "<title/><script src='a.js'/><style />",
    "<iframe src=x/>",
    "<a id='top'/>",
    "<br/><img src=i alt=''/>",
)


def test_empty_elements_of_xhtml_do_not_hide_the_rest(subtests: pytest.Subtests) -> None:
    for empty in EMPTY:
        with subtests.test(empty):
            found = parse(
                f"<html><head>{empty}</head><body>{empty}<p>text <a href='b'>link</a></p></body></html>",
                xml=True,
            )
            assert found.text == "text link"
            assert [(link.href, link.text) for link in found.links if link.kind is LinkKind.A] == [
                ("b", "link")
            ]


def test_only_xhtml_has_them() -> None:
    whole = b"<html xmlns='h'><head><title/></head><body><p>text</p></body></html>"
    read = PageReader().read
    assert read(whole, URL, "application/xhtml+xml") == Page(text="text", charset="utf-8")
    assert read(whole, URL, "text/html") != read(whole, URL, "application/xhtml+xml")
    assert parse("<p>a<br/>b <x:y z='1>2'/>c", xml=True).text == "a b c"
