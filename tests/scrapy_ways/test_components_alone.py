"""Middlewares in a plain Scrapy project, by settings alone: no definition, no add-on. The server's log is the proof."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from scrapy_ways.runs import Desk
from support.named import named
from support.site import Site

SPIDER = """
import scrapy

class PlainSpider(scrapy.Spider):
    name = "plain"

    def __init__(self, url, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [url + path for path in ("/", "/many/1", "/many/2", "/many/3", "/private/start")]

    def parse(self, response):
        yield {"url": response.url, "flags": response.flags, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a", callback=self.parse)
"""
SETTINGS = """
SPIDER_MODULES = ["theirs.spiders"]
ROBOTSTXT_OBEY = False
DOWNLOADER_MIDDLEWARES = {
    "ultracrawl.middlewares.RewriterMiddleware": 40,
    "ultracrawl.middlewares.RobotsMiddleware": 100,
    "ultracrawl.middlewares.RedirectBoundaryMiddleware": 605,
    "ultracrawl.middlewares.ConditionalMiddleware": 705,
}
ULTRACRAWL_DATA = "data"
ULTRACRAWL_BOUNDARY = {"uris": {"exclude": [{"suffix": "/excluded"}]}}
ULTRACRAWL_REWRITE_RULES = [
    {"url_query_cleaner": {"parameterlist": ["sid"], "remove": True}},
    r"@/old/([a-z]+)$@/new/\\1@",
]
ULTRACRAWL_REWRITER = "theirs.rewriter.Printable"
"""
REWRITER = """
from ultracrawl.rules.boundary import UrlRewriter

class Printable(UrlRewriter):
    def rewrite(self, candidate):
        candidate.discard = "/print/" in candidate.candidate_url
        return False
"""


@pytest.fixture
def project(desk: Desk) -> Desk:
    desk.scrapy_cfg("theirs.settings")
    desk.write("theirs/__init__.py", "")
    desk.write("theirs/rewriter.py", REWRITER)
    desk.write("theirs/spiders/__init__.py", "")
    desk.write("theirs/spiders/plain.py", SPIDER)
    desk.write("theirs/settings.py", SETTINGS)
    return desk


@pytest.fixture
def pages(url: str, site: Site) -> Site:
    """Return a site that is `localhost` as well, and that host is outside."""
    outside = f"http://localhost:{urlsplit(url).port}"
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.page(
        "/", title="Home", links=["/page?sid=1", "/page?sid=2", "/old/words", "/print/page", "/301", "/302"]
    )
    site.page(
        "/page", title="Page", links=["/private/page", "/deep", "/refresh", "/301-excluded", "/301-inside"]
    )
    site.page("/deep", title="Deep", headers={"Vary": "Accept-Encoding"})
    for number in (1, 2, 3):
        site.page(f"/many/{number}", title=f"Many {number}")
    for path in ("/new/words", "/by-301", "/by-302", "/by-refresh", "/inside", "/excluded"):
        site.page(path, title=path)
    site.redirect("/301", f"{outside}/by-301")
    site.redirect("/302", f"{outside}/by-302", status=302)
    site.redirect("/301-excluded", "/excluded")
    site.redirect("/301-inside", "/inside")
    refresh = f'<meta http-equiv="refresh" content="0; url={outside}/by-refresh">'
    site.page("/refresh", title="Refresh", head=refresh)
    return site


def crawl(project: Desk, url: str, *words: str) -> dict[str, list[str]]:
    """Run the spider; returns the flags of what it saw, by path."""
    project.crawled("plain", "-a", f"url={url}", "-O", "seen.jsonl", *words)
    lines = (Path(project.directory) / "seen.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    return {urlsplit(item["url"]).path: item["flags"] for item in items}


def test_four_middlewares_by_settings_alone(project: Desk, url: str, pages: Site) -> None:
    seen = crawl(project, url)
    first, counts = pages.requests, pages.counts()
    assert counts["/robots.txt"] == 2, "once for each host, though five requests came first"
    assert not any(path.startswith("/private/") for path in counts)
    assert counts["/page"] == 1, "two links are one URL without `sid`"
    assert not any("sid=" in path for path in counts)
    assert (counts["/new/words"], counts["/old/words"], counts["/print/page"]) == (1, 0, 0)
    assert (counts["/301"], counts["/by-301"]) == (1, 0)
    assert (counts["/302"], counts["/by-302"]) == (1, 1)
    assert (counts["/301-inside"], counts["/inside"]) == (1, 1)
    assert (counts["/301-excluded"], counts["/excluded"]) == (1, 0)
    assert (counts["/refresh"], counts["/by-refresh"]) == (1, 0)
    assert not any(seen.values())

    pages.page("/deep", title="Deep and changed", links=["/later"], headers={"Vary": "Accept-Encoding"})
    pages.page("/later", title="Later")
    again = crawl(project, url)
    later = {request.path: request for request in pages.requests[len(first) :]}
    asked = {path for path, request in later.items() if request.header("If-None-Match")}
    assert asked == {"/", "/page", "/deep", "/new/words", "/by-302", "/inside", "/refresh"} | {
        f"/many/{number}" for number in (1, 2, 3)
    }
    assert all(later[path].header("If-Modified-Since") for path in asked)
    assert again.keys() == seen.keys() | {"/later"}, "what did not change still leads to its links"
    assert {path for path, flags in again.items() if not flags} == {"/deep", "/later"}
    assert again["/page"] == ["not-modified"]

    dropped = crawl(project, url, "-s", "ULTRACRAWL_NOT_MODIFIED=drop")
    assert dropped == {}, "the start pages did not change, so nothing leads on"


def test_mistakes_in_settings_end_the_crawl_in_plain_lines(project: Desk, url: str, pages: Site) -> None:
    text = (
        SETTINGS
        + 'ULTRACRAWL_BOUNDARY = {"domain": [], "schemes": ["gopher"]}\nULTRACRAWL_REWRITER = "a.B"\n'
    )
    project.write("theirs/settings.py", text)
    ended = project.scrapy("crawl", "plain", "-a", f"url={url}", "-s", "LOG_LEVEL=ERROR")
    assert ended.code == 1
    lines = [line.partition("not crawled: ")[2] for line in ended.err.splitlines()]
    assert [(line.split(" - ")[1], named(line)) for line in lines] == [
        ("ULTRACRAWL_BOUNDARY.schemes.1", ["gopher", "http", "https", "ftp"]),
        ("ULTRACRAWL_BOUNDARY.domain", ["domain", "domains: {include: [www.example.com]}"]),
    ]
    assert pages.requests == []
