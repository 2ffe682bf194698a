"""The add-on in somebody else's project: our sources crawl, their spiders stay as they were."""

import json
from typing import Any

import pytest
from scrapy_ways.runs import DUMP, Desk
from support.sentences import sentence
from support.site import Site

ADDON = 'ADDONS = {"ultracrawl.addon.UltracrawlAddon": 500}\n'
LOADER = 'SPIDER_LOADER_CLASS = "ultracrawl.spiders.SourceSpiderLoader"\n'

PLAIN_SPIDER = """
import scrapy

class PlainSpider(scrapy.Spider):
    name = "plain"

    def __init__(self, url, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
        yield from response.follow_all(css="a", callback=self.parse)
"""


@pytest.fixture
def project(desk: Desk, url: str) -> Desk:
    """Return a project with a plain spider of its own, and definitions beside it."""
    desk.scrapy_cfg("theirs.settings")
    desk.write("theirs/__init__.py", "")
    desk.write("theirs/dump.py", DUMP)
    desk.write("theirs/spiders/__init__.py", "")
    desk.write("theirs/spiders/plain.py", PLAIN_SPIDER)
    settings = 'SPIDER_MODULES = ["theirs.spiders"]\nEXTENSIONS = {"theirs.dump.SettingsDump": 1}\n'
    desk.write("theirs/settings.py", settings + 'DUMP_FILE = "dump.json"\n')
    desk.define(site={"start_urls": [f"{url}/"]})
    return desk


def switch_on(project: Desk, lines: str = ADDON + LOADER) -> None:
    path = project.directory / "theirs" / "settings.py"
    path.write_text(path.read_text() + lines)


def dumped(project: Desk) -> dict[str, Any]:
    data = json.loads((project.directory / "dump.json").read_text())
    assert isinstance(data, dict)
    return data


def test_sources_and_own_spiders_are_listed(project: Desk) -> None:
    assert project.scrapy("list").out.split() == ["plain"]
    switch_on(project)
    assert project.scrapy("list").out.split() == ["plain", "site"]


def test_sources_crawl(project: Desk, site: Site) -> None:
    switch_on(project)
    project.crawled("site")
    assert project.outcomes() == {"/": "NEW", "/a": "NEW", "/private": "ROBOTS"}
    assert site.count("/private") == 0
    assert "ultracrawl.scheduler.scheduler.UltracrawlScheduler" in dumped(project)["parts"]


def test_the_addon_line_alone_crawls(project: Desk) -> None:
    switch_on(project, ADDON)
    project.crawled("site")
    assert project.outcomes()["/a"] == "NEW"


def test_ultracrawl_crawl_works_in_it(project: Desk) -> None:
    switch_on(project)
    ended = project.ultracrawl("crawl", "--json")
    assert ended.code == 0, ended.err
    assert ended.run["outcomes"] == {"NEW": 2, "ROBOTS": 1}
    assert "theirs.dump.SettingsDump" in dumped(project)["EXTENSIONS"]


def test_their_spider_stays_as_it_was(project: Desk, url: str) -> None:
    def crawl() -> tuple[dict[str, Any], list[str]]:
        project.crawled("plain", "-a", f"url={url}/", "-O", "titles.jsonl")
        titles = (project.directory / "titles.jsonl").read_text().splitlines()
        return dumped(project), sorted(json.loads(line)["title"] for line in titles)

    before = crawl()
    switch_on(project)
    after = crawl()
    assert after == before
    settings, titles = after
    assert titles == ["Home", "Private", "Vacation"]
    assert settings["parts"][0] == "scrapy.core.scheduler.Scheduler"
    assert all(part.startswith(("scrapy.", "theirs.")) for part in settings["parts"])
    assert not (project.directory / "var").exists()


def test_a_source_hides_their_spider_of_its_name_with_a_warning(project: Desk) -> None:
    project.define(plain={"start_urls": ["https://a.example/"]})
    switch_on(project)
    ended = project.scrapy("list")
    assert ended.out.split() == ["plain"]
    assert sentence("scrapy.hidden_spider") in ended.err


def test_definitions_in_their_package(project: Desk, url: str) -> None:
    (project.directory / "ultracrawl.yaml").unlink()
    project.define("theirs/sources/inside.yaml", inside={"start_urls": [f"{url}/"]})
    switch_on(project, ADDON + LOADER + 'ULTRACRAWL_CONFIG = "theirs:sources"\n')
    assert project.scrapy("list").out.split() == ["inside", "plain"]
    project.crawled("inside")
    assert (project.directory / "var" / "state" / "inside.sqlite").is_file()


ITEMS_SPIDER = """
import scrapy

class ItemsSpider(scrapy.Spider):
    name = "items"
    start_urls = [{url!r}]

    def parse(self, response):
        fields = {{"author": "Ada", "price": "12", "color": ["grey"]}}
        yield {{"url": response.url, "title": "Heron", "text": "heron", **fields}}
"""
PIPELINES = """
ULTRACRAWL_DATA = "data"
ULTRACRAWL_ATTRIBUTES = {"author": "Author", "price": {"name": "Price", "type": "number"}, "color": "Color"}
ITEM_PIPELINES = {
    "ultracrawl.pipelines.AttributePipeline": 200,
    "ultracrawl.pipelines.IndexPipeline": 900,
}
"""
LOSS = "WARNING: items: "


def losses(project: Desk) -> int:
    """Crawl with the spider of the project; return how often it was warned of what a search does not find."""
    ended = project.scrapy("crawl", "items")
    assert ended.code == 0, ended.err
    assert "'ultracrawl/items/indexed': 1" in ended.err
    return ended.err.count(LOSS)


def test_items_of_their_spider_are_found_as_the_warnings_say(project: Desk, url: str) -> None:
    """Definitions beside the spider decide what a search reads: index and attributes."""
    project.write("theirs/spiders/items.py", ITEMS_SPIDER.format(url=f"{url}/"))
    switch_on(project, ADDON + PIPELINES)
    definition = project.directory / "ultracrawl.yaml"
    written = definition.read_text()
    assert losses(project) == 2
    definition.write_text(f"{written}index: index\n")
    assert losses(project) == 1, "the attributes are not known yet"
    definition.write_text(f"{written}index: index\nattributes: {{Color: string, Price: number}}\n")
    assert losses(project) == 0
    (hit,) = project.ultracrawl("search", "heron", "--where", "Price<=12", "--json").json["hits"]
    assert hit["source"] == "items"
    assert {name: hit["attributes"][name] for name in ("Author", "Price", "Color")} == {
        "Author": ["Ada"],
        "Price": [12.0],
        "Color": ["grey"],
    }


def test_attributes_without_their_pipeline_are_warned_of(project: Desk, url: str) -> None:
    (project.directory / "ultracrawl.yaml").unlink()
    project.write("theirs/spiders/items.py", ITEMS_SPIDER.format(url=f"{url}/"))
    switch_on(project, ADDON + PIPELINES)
    assert losses(project) == 0
    settings = project.directory / "theirs" / "settings.py"
    kept = [line for line in settings.read_text().splitlines() if "AttributePipeline" not in line]
    settings.write_text("\n".join(kept))
    assert losses(project) == 1
