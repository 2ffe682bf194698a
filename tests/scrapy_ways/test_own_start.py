"""A class whose `start()` is its own: what it yields is indexed or fetched, and nothing vanishes."""

from __future__ import annotations

from collections import Counter

import pytest
from documentation.pages import blocks
from scrapy_ways.runs import Desk
from support.project import ROOT
from support.sentences import sentence
from support.site import Site

HEAD = """
import asyncio
from scrapy import Request
from ultracrawl.model import Document
from ultracrawl.spiders import SourceSpider

class MySource(SourceSpider):
    root = ROOT
    known = KNOWN
"""

DOCUMENTS = """
    async def start(self):
        for number in self.known:
            url = f"{self.root}/rows/{number}"
            yield Document(url, url, "", title=f"Row {number}", text=f"heron {number}")
        async for one in super().start():
            yield one
"""

LATE = """
    async def start(self):
        async for one in super().start():
            yield one
        while self.crawler.stats.get_value("response_received_count", 0) < 2:
            await asyncio.sleep(0.01)
        for number in self.known:
            url = f"{self.root}/rows/{number}"
            yield Document(url, url, "", title=f"Row {number}", text=f"heron {number}")
"""

AFTER_404 = LATE.replace(
    '"response_received_count", 0) < 2', '"downloader/response_status_count/404", 0) < 1'
)

OUTSIDE = """
    async def start(self):
        yield Document("https://elsewhere.example/1", "https://elsewhere.example/1", "", text="heron")
        yield Document("row 7", "", "", text="heron")
"""

REQUESTS = """
    async def start(self):
        for path in ("/", "/a"):
            yield Request(self.root + path)
"""

CALLBACKS = """
    async def start(self):
        yield Request(self.root + "/rows.json", callback=self.rows)

    def rows(self, response):
        for number in response.json():
            url = f"{self.root}/rows/{number}"
            yield Document(url, url, "", title=f"Row {number}", text=f"heron {number}")
        yield Request(self.root + "/a")
"""

RAISES = """
    async def start(self):
        url = f"{self.root}/rows/1"
        yield Document(url, url, "", title="Row 1", text="heron 1")
        raise ValueError("no database")
"""


def define(desk: Desk, url: str, code: str, known: list[int] | None = None) -> None:
    desk.scrapy_cfg()
    desk.define(site={"start_urls": [f"{url}/"], "class": "mine.MySource"})
    head = HEAD.replace("ROOT", repr(url)).replace("KNOWN", repr(known or [1, 2, 3]))
    desk.write("mine.py", head + code)


def adds_up(desk: Desk, run: dict[str, object]) -> None:
    outcomes = Counter(row["outcome"] for row in desk.ultracrawl("urls", "--json").lines)
    assert run["outcomes"] == outcomes
    assert run["scheduled"] == sum(outcomes.values())


def test_documents_of_start_are_indexed_beside_the_pages(desk: Desk, site: Site, url: str) -> None:
    define(desk, url, DOCUMENTS)
    ended = desk.ultracrawl("crawl", "--json")
    assert (ended.code, ended.run["outcomes"]) == (0, {"NEW": 5, "ROBOTS": 1})
    assert sorted(desk.found("heron")) == ["/rows/1", "/rows/2", "/rows/3"]
    assert desk.found("vacation") == ["/a"]
    assert not any(path.startswith("/rows") for path in site.paths())
    adds_up(desk, ended.run)


def test_the_document_of_the_page_is_indexed_as_it_is_printed(desk: Desk, site: Site, url: str) -> None:
    (code,) = (block for block in blocks(ROOT / "docs" / "scrapy.md", "python") if "class Rows" in block)
    desk.scrapy_cfg()
    desk.define(site={"start_urls": [f"{url}/"], "class": "mine.Rows", "attributes": {"author": "Author"}})
    desk.write("mine.py", code.replace("https://www.example.com", url))
    assert desk.ultracrawl("crawl", "--json").run["outcomes"] == {"NEW": 3, "ROBOTS": 1}
    (hit,) = desk.ultracrawl("search", "heron", "--where", "Author=Ada", "--json").json["hits"]
    assert (hit["url"], hit["title"]) == (f"{url}/rows/7", "Row 7")


def test_documents_of_start_stay_while_they_are_given(desk: Desk, site: Site, url: str) -> None:
    define(desk, url, DOCUMENTS)
    desk.ultracrawl("crawl")
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.run["outcomes"] == {"NOT_MODIFIED": 2, "UNMODIFIED": 3, "ROBOTS": 1}
    assert len(desk.found("heron")) == 3
    adds_up(desk, ended.run)
    define(desk, url, DOCUMENTS.replace("heron {number}", "bittern {number}"), known=[1, 2])
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.run["outcomes"] == {"NOT_MODIFIED": 2, "MODIFIED": 2, "GONE": 1, "ROBOTS": 1}
    assert sorted(desk.found("bittern")) == ["/rows/1", "/rows/2"]
    assert desk.found("heron") == []
    adds_up(desk, ended.run)


def test_documents_that_start_gives_after_the_pages_stay_too(desk: Desk, site: Site, url: str) -> None:
    define(desk, url, LATE)
    desk.ultracrawl("crawl")
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.run["outcomes"] == {"NOT_MODIFIED": 2, "UNMODIFIED": 3, "ROBOTS": 1}
    assert not any(path.startswith("/rows") for path in site.paths())
    adds_up(desk, ended.run)
    define(desk, url, LATE, known=[1, 2])
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.run["outcomes"] == {"NOT_MODIFIED": 2, "UNMODIFIED": 2, "GONE": 1, "ROBOTS": 1}
    assert sorted(desk.found("heron")) == ["/rows/1", "/rows/2"]
    assert [path for path in site.paths() if path.startswith("/rows")] == ["/rows/3"]
    adds_up(desk, ended.run)


def test_a_document_that_is_given_after_its_url_had_no_page_is_indexed_in_the_same_run(
    desk: Desk, site: Site, url: str
) -> None:
    """A link leads to the URL, and the request for it finds nothing before the spider yields the document."""
    site.page("/", links=["/rows/3", "/a"])
    define(desk, url, AFTER_404, known=[3])
    ended = desk.ultracrawl("crawl", "--json")
    assert desk.found("heron") == ["/rows/3"]
    assert ended.run["outcomes"] == {"NEW": 3, "GONE": 1}, "the request counts, and so does the document"
    assert ended.run["scheduled"] == 4
    define(desk, url, LATE, known=[3])
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.run["outcomes"] == {"NOT_MODIFIED": 2, "UNMODIFIED": 1}
    assert desk.found("heron") == ["/rows/3"]
    adds_up(desk, ended.run)


def test_a_document_that_was_not_given_for_a_run_is_back_in_the_run_that_gives_it(
    desk: Desk, site: Site, url: str
) -> None:
    site.page("/", links=["/rows/3", "/a"])
    define(desk, url, LATE, known=[1, 3])
    desk.ultracrawl("crawl")
    define(desk, url, LATE, known=[1])
    desk.ultracrawl("crawl")
    assert desk.found("heron") == ["/rows/1"]
    site.change("/", links=["/rows/3", "/a"], text="changed, so that its links are read again")
    define(desk, url, AFTER_404, known=[1, 3])
    desk.ultracrawl("crawl")
    assert sorted(desk.found("heron")) == ["/rows/1", "/rows/3"]


def test_a_document_takes_the_place_of_a_page_that_is_gone(desk: Desk, site: Site, url: str) -> None:
    site.page("/", links=["/rows/3", "/a"])
    site.page("/rows/3", text="bittern")
    define(desk, url, "\n    pass\n")
    desk.ultracrawl("crawl")
    assert desk.found("bittern") == ["/rows/3"]
    site.remove("/rows/3")
    for late in (AFTER_404, LATE):
        define(desk, url, late, known=[3])
        desk.ultracrawl("crawl")
        assert desk.found("heron") == ["/rows/3"]
        assert desk.found("bittern") == []


def test_a_page_that_was_read_makes_its_own_document(desk: Desk, site: Site, url: str) -> None:
    site.page("/", links=["/rows/3"])
    site.page("/rows/3", text="bittern")
    define(desk, url, LATE, known=[3])
    desk.ultracrawl("crawl")
    assert (desk.found("bittern"), desk.found("heron")) == (["/rows/3"], [])


def test_a_document_that_the_source_may_not_have_is_reported(desk: Desk, site: Site, url: str) -> None:
    define(desk, url, OUTSIDE)
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.code == 1
    assert [line.split(":")[0] for line in ended.run["problems"]] == [
        sentence("scrapy.document_not_indexed")
    ] * 2
    assert "elsewhere.example" in ended.run["problems"][0]


def test_requests_of_start_are_fetched(desk: Desk, site: Site, url: str) -> None:
    define(desk, url, REQUESTS)
    ended = desk.ultracrawl("crawl", "--json")
    assert (ended.code, ended.run["outcomes"]) == (0, {"NEW": 2, "ROBOTS": 1})
    assert desk.found("vacation") == ["/a"]


def test_documents_of_a_callback_are_indexed(desk: Desk, site: Site, url: str) -> None:
    site.file("/rows.json", b"[4, 5]", "application/json")
    define(desk, url, CALLBACKS)
    ended = desk.ultracrawl("crawl", "--json")
    assert (ended.code, ended.run["outcomes"]) == (0, {"NEW": 3})
    assert sorted(desk.found("heron")) == ["/rows/4", "/rows/5"]
    assert desk.found("vacation") == ["/a"]


@pytest.mark.parametrize("command", ["ultracrawl", "scrapy"])
def test_a_start_that_raises_is_reported_and_what_it_gave_stays(
    desk: Desk, site: Site, url: str, command: str
) -> None:
    define(desk, url, RAISES)
    if command == "scrapy":
        desk.scrapy("crawl", "site")
    else:
        ended = desk.ultracrawl("crawl", "--json")
        assert ended.code == 1
        told = (
            "start() of the class mine.MySource failed: ValueError: no database; correct it; `-v` shows where"
        )
        assert ended.run["problems"] == [told]
    assert desk.found("heron") == ["/rows/1"]


@pytest.mark.parametrize("failure", ["an error page", "a lost connection", "start() raises"])
def test_what_the_spider_gave_stays_if_it_fails(desk: Desk, site: Site, url: str, failure: str) -> None:
    """The URLs of its documents have no pages: a request would remove them."""
    site.file("/rows.json", b"[4, 5]", "application/json")
    define(desk, url, CALLBACKS)
    assert desk.ultracrawl("crawl").code == 0
    if failure == "an error page":
        site.respond("/rows.json", status=500)
    elif failure == "a lost connection":
        site.raw("/rows.json", b"")
    else:
        define(
            desk,
            url,
            "\n    async def start(self):\n        yield Request(self.root + '/')\n        raise ValueError\n",
        )
    ended = desk.ultracrawl("crawl", "--json")
    assert ended.code == 1
    assert "GONE" not in ended.run["outcomes"]
    assert not any(path.startswith("/rows/") for path in site.paths())
    assert sorted(desk.found("heron")) == ["/rows/4", "/rows/5"]
    site.file("/rows.json", b"[4]", "application/json")
    define(desk, url, CALLBACKS)
    assert desk.ultracrawl("crawl", "--json").run["outcomes"]["GONE"] == 1
    assert desk.found("heron") == ["/rows/4"]
