"""A class of one's own for a source: `class: mypackage.MySource` in the definition."""

import json

import pytest
from scrapy_ways.runs import Desk
from support.site import Site

HEAD = """
from dataclasses import dataclass

import scrapy
from ultracrawl.model import Document
from ultracrawl.spiders import SourceSpider

"""

ITEMS = {
    "dict": '{"title": "Own " + page.title, "attributes": {**page.meta, "product": "T3"}, "price": 9}',
    "dict with lists": '{"title": "Own " + page.title, "attributes": {**page.meta, "Product": ["T3"]}}',
    "dataclass": 'Offer("Own " + page.title, {**page.meta, "product": ["T3"]})',
    "scrapy item": 'OfferItem(title="Own " + page.title, attributes={**page.meta, "product": "T3"}, price=9)',
    "document": 'Document("x", "y", "z", title="Own " + page.title, attributes={**page.meta, "product": ["T3"]})',
    "search attributes": '{"title": "Own " + page.title, "search_attributes": {"Product": "T3", "Nothing": 1}}',
}

CLASS = """
@dataclass
class Offer:
    title: str
    attributes: dict
    price: float = 0.0

class OfferItem(scrapy.Item):
    title = scrapy.Field()
    attributes = scrapy.Field()
    price = scrapy.Field()

class MySource(SourceSpider):
    def documents(self, response, page):
        yield ITEM
"""

LINKS = """
class MySource(SourceSpider):
    def links(self, response, page):
        return [*response.css("[data-to]::attr(data-to)").getall(), "https://elsewhere.example/", "/private"]

    def documents(self, response, page):
        if response.css(".draft"):
            return
        yield {}
"""

BROKEN = """
class MySource(SourceSpider):
    def documents(self, response, page):
        if "Vacation" in page.title:
            raise ValueError("cannot make sense of it")
        yield {}
"""


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    desk.scrapy_cfg()
    desk.define(
        site={"start_urls": [f"{url}/"], "class": "mypackage.MySource", "attributes": {"product": "Product"}}
    )
    with (desk.directory / "ultracrawl.yaml").open("a") as stream:
        stream.write("attributes: {Product: string}\n")
    desk.write("mypackage/__init__.py", HEAD)
    return desk


def own_class(project: Desk, code: str) -> None:
    project.write("mypackage/__init__.py", HEAD + code)


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_any_kind_of_item_becomes_a_document(project: Desk, site: Site, item: str) -> None:
    site.page("/a", title="Vacation", text="how to request", head='<meta name="author" content="Ann Lee">')
    own_class(project, CLASS.replace("ITEM", item))
    project.crawled("site", "-O", "items.jsonl")
    assert project.outcomes() == {"/": "NEW", "/a": "NEW", "/private": "ROBOTS"}
    (hit,) = project.ultracrawl("search", "--json", "--as-typed", "request", "--where", "Product=T3").json[
        "hits"
    ]
    assert hit["title"] == "Own Vacation"
    assert hit["url"].endswith("/a")
    assert hit["attributes"]["Author"] == ["Ann Lee"]
    exported = [json.loads(line) for line in (project.directory / "items.jsonl").read_text().splitlines()]
    assert {one["access_url"] for one in exported} == {one["url"] for one in exported}
    assert len(exported) == 2


READERS = """
import json
from pathlib import Path

class MySource(SourceSpider):
    def documents(self, response, page):
        yield {"acl": json.loads(Path("readers.json").read_text()).get(page.title, [])}
"""


def test_a_class_says_who_may_see_a_document_also_of_an_unchanged_page(project: Desk, site: Site) -> None:
    site.page("/a", title="Vacation", text="how to request")
    own_class(project, READERS)

    def found_with(readers: object) -> list[int]:
        project.write("readers.json", json.dumps(readers))
        project.crawled("site")
        asked = ("search", "--json", "--as-typed", "request")
        ways = ((), ("--principal", "staff"), ("--principal", "boss"), ("--all-principals",))
        return [project.ultracrawl(*asked, *way).json["total"] for way in ways]

    assert found_with({"Vacation": ["staff"]}) == [0, 1, 0, 1]
    assert found_with({"Vacation": ["boss"]}) == [0, 0, 1, 1]
    assert project.outcomes()["/a"] == "MODIFIED"
    assert found_with({"Vacation": "boss"}) == [0, 0, 1, 1]
    assert project.outcomes()["/a"] == "UNMODIFIED"
    assert found_with({"Vacation": [None]}) == [0, 0, 0, 0], "what names nobody leaves the index"
    assert found_with({}) == [1, 1, 1, 1]


ODD_VALUES = """
from datetime import date
from decimal import Decimal

class MySource(SourceSpider):
    def documents(self, response, page):
        yield {"search_attributes": {
            "Price": [Decimal("3.5"), "12", "abc", float("nan"), None], "Day": date(2024, 5, 1),
            "Product": [7, None, {"a": 1}, b"x", ""], "Author": "Ann", "Nothing": 1,
        }}

class Stamp:
    def process_item(self, item):
        item["search_attributes"]["Edition"] = 3
        item["search_attributes"]["Subject"] = "whole"
        item["search_attributes"]["Description"] = {"no": "value"}
        return item
"""


def test_values_that_no_index_can_hold_are_left_out_and_poison_nothing(project: Desk, url: str) -> None:
    own_class(project, ODD_VALUES)
    settings = {"ITEM_PIPELINES": {"mypackage.Stamp": 500}}
    project.define(site={"start_urls": [f"{url}/a"], "class": "mypackage.MySource", "settings": settings})
    with (project.directory / "ultracrawl.yaml").open("a") as stream:
        stream.write("attributes: {Product: string, Price: number, Day: date, Edition: number}\n")
    ended = project.ultracrawl("crawl", "--json")
    assert ended.code == 0, ended.err
    assert (ended.run["indexed"], ended.run["dropped_values"], ended.run["problems"]) == (1, 6, [])
    (hit,) = project.ultracrawl("search", "--json", "--as-typed", "vacation").json["hits"]
    found = {
        name: hit["attributes"].get(name)
        for name in ("Price", "Day", "Product", "Author", "Edition", "Subject")
    }
    assert found == {
        "Price": [3.5, 12.0], "Day": ["2024-05-01 00:00:00+00:00"], "Product": ["7"], "Author": ["Ann"],
        "Edition": [3.0], "Subject": ["whole"],
    }  # fmt: skip


def test_a_page_that_is_gone_takes_its_own_document_along(project: Desk, site: Site) -> None:
    own_class(project, CLASS.replace("ITEM", '{"url": "https://other.example/", "text": "unheard of words"}'))
    project.crawled("site")
    assert sorted(project.found("unheard")) == ["/", "/a"]
    site.remove("/a")
    project.crawled("site")
    assert project.outcomes()["/a"] == "GONE"
    assert project.found("unheard") == ["/"]


def test_links_and_refused_documents(project: Desk, site: Site) -> None:
    site.page("/", title="Home", links=["/a"], head='<meta name="x" data-to="/b">')
    site.page("/b", title="Found by an attribute")
    own_class(project, LINKS)
    ended = project.ultracrawl("crawl", "--json")
    assert ended.code == 0, ended.err
    assert project.outcomes() == {"/": "NEW", "/b": "NEW", "/private": "ROBOTS"}
    assert ended.run["rejected_by"]["no include domain matches"] == 1
    assert site.count("/a") == site.count("/private") == 0


def test_a_page_without_a_document_is_not_indexed(project: Desk, site: Site) -> None:
    site.respond(
        "/a",
        headers={"Content-Type": "text/html; charset=utf-8"},
        body='<title>A</title><p class="draft">not yet</p>',
    )
    own_class(project, LINKS.replace('[*response.css("[data-to]::attr(data-to)").getall(),', '["/a",'))
    project.crawled("site")
    assert project.outcomes()["/a"] == "NOT_INDEXED"


def test_an_error_in_it_costs_one_page(project: Desk) -> None:
    own_class(project, BROKEN)
    ended = project.ultracrawl("crawl", "--json")
    assert ended.run["outcomes"] == {"NEW": 1, "FAILED": 1, "ROBOTS": 1}
    (row,) = project.ultracrawl("urls", "--json", "--outcome", "FAILED").lines
    assert "cannot make sense of it" in row["reason"]


FIELDS = {
    "a number": ("{'title': 2024}", "NEW", ""),
    "a list": ("{'text': ['a', 'b']}", "FAILED", "TypeError: `text` of a document is list, not a text"),
}


@pytest.mark.parametrize(("item", "outcome", "reason"), FIELDS.values(), ids=list(FIELDS))
def test_texts_of_a_document_are_texts(project: Desk, url: str, item: str, outcome: str, reason: str) -> None:
    own_class(project, CLASS.replace("ITEM", item))
    project.define(site={"start_urls": [f"{url}/a"], "class": "mypackage.MySource"})
    project.ultracrawl("crawl")
    (row,) = (one for one in project.ultracrawl("urls", "--json").lines if one["url"].endswith("/a"))
    assert (row["outcome"], row["reason"]) == (outcome, reason)


PIPELINE = """
class Stamp:
    def process_item(self, item):
        item = ItemAdapter(item)
        item["title"] = f"Stamped {item['title']} by {item['search_attributes']['Author'][0]}"
        return item.item
"""


def test_a_pipeline_of_ones_own(project: Desk, site: Site, url: str) -> None:
    for path in ("/", "/a"):
        site.page(path, title="Vacation", links=["/a"], text=path, head='<meta name="author" content="Ann">')
    own_class(project, "from itemadapter import ItemAdapter\n" + PIPELINE)
    settings = {"ITEM_PIPELINES": {"mypackage.Stamp": 500}}
    project.define(site={"start_urls": [f"{url}/"], "settings": settings})
    project.crawled("site")
    assert sorted(project.found("stamped")) == ["/", "/a"]
    assert (
        project.ultracrawl("search", "--json", "--as-typed", "stamped").json["hits"][0]["title"]
        == "Stamped Vacation by Ann"
    )


BAD = {
    "no module": ("nowhere.MySource", "", ["nowhere"]),
    "no class": ("mypackage.YourSource", "", ["YourSource"]),
    "no source": ("mypackage.MySource", "class MySource: pass\n", ["SourceSpider"]),
    "plain spider": ("mypackage.MySource", "class MySource(scrapy.Spider): name = 'x'\n", ["SourceSpider"]),
    "broken module": ("mypackage.MySource", "class MySource(\n", ["SyntaxError", "__init__.py:7"]),
    "module that raises": ("mypackage.MySource", "{}['nothing']\n", ["KeyError", "__init__.py:7"]),
}
"""A class that cannot be used: its path, the module, and the names and places that the line has."""


@pytest.mark.parametrize(("path", "code", "named"), BAD.values(), ids=list(BAD))
@pytest.mark.parametrize("command", ["ultracrawl", "scrapy"])
def test_a_bad_class_is_one_line(project: Desk, command: str, path: str, code: str, named: list[str]) -> None:
    own_class(project, code)
    project.define(site={"start_urls": ["https://a.example/"], "class": path})
    words = ("crawl", "site") if command == "ultracrawl" else ("crawl", "site", "-s", "LOG_ENABLED=0")
    ended = getattr(project, command)(*words)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    line = ended.err.strip().splitlines()[-1]
    assert all(name in line for name in ("'site'", *named)), line
