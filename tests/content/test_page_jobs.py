"""A page is read in a conversion process as it is here, and within its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ultracrawl.content.html.selection import PagePicks, css_pick, xpath_pick
from ultracrawl.content.limits import PageLimits
from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.content.service.job import PageJob, PageLost, PageRead, ProcessLimits
from ultracrawl.content.service.pool import ConversionPool
from ultracrawl.model import LinkKind

PICKS = PagePicks(
    (
        css_pick("heading", "h1"),
        css_pick("target", "a", "HREF"),
        css_pick("elsewhere", "h1", applies=lambda url: "elsewhere" in url),
        replace(css_pick("mood", ".mood"), default="fine"),
        replace(css_pick("stripped", "h1"), strip="Üs"),
        replace(xpath_pick("season", "//season"), default="spring"),
        xpath_pick("number", "count(//a)"),
        xpath_pick("first", "//a[1]/@href", applies=lambda url: url.endswith("/page")),
    )
)
HTML = """<!doctype html><html lang=en><head><title>A  title</title><base href="/base/">
<meta name=description content="says Zürich"><meta name=robots content="nofollow, unavailable_after: 2030-01-01">
<meta http-equiv=refresh content="30; url=/later"><link rel=canonical href=/canon>
<script type="application/ld+json">{"headline": "Head", "author": [{"name": "A"}, {"name": "B"}]}</script></head>
<body><h1 id=über>Über  alles</h1><p>words
<a href="a?x=1&amp;y=2" rel=nofollow>first &lt;link&gt;</a> <a href=/b>second</a>
<p>see http://plain.example/page. <b>""" + "".join(
    f"<div><a href='/n{one}'>näme {one}</a> some more words</div>" for one in range(3000)
)
HEAD = PageHeaders("text/html", ("noarchive", "nosnippet"), "90; /refreshed")
KINDS = frozenset(LinkKind)
BODIES = {
    "utf-8": (HTML.encode(), "text/html", PageHeaders("text/html; charset=utf-8")),
    "headers": (HTML.encode(), "text/html", HEAD),
    "another charset": (HTML.encode("cp1252"), "text/html", PageHeaders("text/html; charset=windows-1252")),
    "utf-16": (HTML.encode("utf-16"), "text/html", PageHeaders()),
    "lone surrogates": (
        HTML.encode() + b"<a href='/\xed\xa0\x80'>\xed\xa0\x80&#xD800;</a>",
        "text/html",
        HEAD,
    ),
    "xhtml": (HTML.replace("<h1>", "<title/><h1>").encode(), "application/xhtml+xml", PageHeaders()),
    "plain text": (HTML.encode(), "text/plain", HEAD),
    "one long word": (b"<p>" + b"x" * 400_000, "text/html", HEAD),
    "nothing": (b"", "text/html", HEAD),
}


@pytest.fixture(scope="module")
def pool() -> Iterator[ConversionPool]:
    pool = ConversionPool(ProcessLimits(60.0, 1 << 30))
    yield pool
    pool.close()


@pytest.mark.parametrize("limits", [PageLimits(), PageLimits(5000, 100, 2000)], ids=["whole", "in part"])
@pytest.mark.parametrize(("body", "media_type", "head"), BODIES.values(), ids=BODIES)
def test_a_page_is_the_same_whoever_reads_it(
    pool: ConversionPool, body: bytes, media_type: str, head: PageHeaders, limits: PageLimits
) -> None:
    reader = PageReader(KINDS, ("*/*",), "robot", "iso-8859-2", jsonld=True, picks=PICKS, limits=limits)
    here = reader.read(body, "http://h.example/page", media_type, head)
    answer = pool.submit(PageJob(body, "http://h.example/page", media_type, head, reader, 60.0)).result(60)
    assert answer == PageRead(here)  # type: ignore[arg-type]  # None would be seen


def test_the_texts_of_rules_and_kinds_come_through(pool: ConversionPool) -> None:
    reader = PageReader(frozenset({LinkKind.A}), picks=PICKS)
    answer = pool.submit(PageJob(HTML.encode(), "http://h.example/page", "text/html", HEAD, reader, 60.0))
    page = answer.result(60)
    assert isinstance(page, PageRead)
    assert page.page.picked["heading"] == ["Über alles"]
    assert page.page.picked["number"] == ["3002"]
    assert page.page.picked["mood"] == ["fine"]
    assert page.page.picked["season"] == ["spring"]
    assert page.page.picked["stripped"] == ["ber alle"]
    names = {"heading", "target", "number", "first", "mood", "stripped", "season"}
    assert set(page.page.picked) == names


def test_a_page_that_takes_too_long_costs_itself_only(pool: ConversionPool) -> None:
    job = PageJob(b"<p>" * 300_000, "http://h/", "text/html", PageHeaders(), PageReader(), 0.001)
    answer = pool.submit(job).result(60)
    assert isinstance(answer, PageLost)
    assert "limits.seconds_per_page" in answer.reason
    assert not answer.may_pass, "it would take as long again"
    assert isinstance(pool.submit(job._replace(seconds=60.0)).result(60), PageRead)


def test_a_page_that_needs_too_much_memory_costs_itself_only() -> None:
    pool = ConversionPool(ProcessLimits(60.0, 160 << 20))
    body = b"<p>words and words</p>" * 1_000_000
    try:
        answer = pool.submit(
            PageJob(body, "http://h/", "text/html", PageHeaders(), PageReader(), 60.0)
        ).result(60)
        assert isinstance(answer, PageLost)
        assert "memory" in answer.reason
    finally:
        pool.close()
