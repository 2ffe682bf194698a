"""The item pipelines in somebody's Scrapy project, by settings alone: what a crawl leaves is searched there."""

import signal

import pytest
from scrapy_ways.runs import Desk
from support.sentences import sentence

SPIDER = """
import os, signal
import scrapy

class ShopSpider(scrapy.Spider):
    name = "shop"

    async def start(self):
        for number in range(int(self.settings["OFFERS"])):
            yield {"url": f"http://shop.example/{number}", "title": f"Heron {number}", "price": number}

class Killed:
    \"\"\"A pipeline behind which the machine fails, as soon as an item has passed it.\"\"\"

    def process_item(self, item):
        if item["url"].endswith("/2"):
            os.kill(os.getpid(), signal.SIGKILL)
        return item
"""

SETTINGS = """
SPIDER_MODULES = ["theirs.shop"]
OFFERS = 3
ULTRACRAWL_DATA = "data"
ULTRACRAWL_ATTRIBUTES = {"price": {"name": "Price", "type": "number"}}
ITEM_PIPELINES = {
    "ultracrawl.pipelines.ChecksumPipeline": 100,
    "ultracrawl.pipelines.AttributePipeline": 200,
    "ultracrawl.pipelines.IndexPipeline": 900,
}
"""


@pytest.fixture
def shop(desk: Desk) -> Desk:
    desk.scrapy_cfg("theirs.settings")
    desk.write("theirs/__init__.py", "")
    desk.write("theirs/shop.py", SPIDER)
    desk.write("theirs/settings.py", SETTINGS)
    return desk


def test_items_are_searched_and_come_out_again_only_when_they_change(shop: Desk) -> None:
    shop.crawled("shop", "-O", "first.jsonl")
    assert shop.found("heron", "--where", "Price>=1", "--source", "shop") == ["/1", "/2"]
    shop.crawled("shop", "-O", "second.jsonl", "-s", "OFFERS=4")
    exported = [
        len((shop.directory / name).read_text().splitlines()) for name in ("first.jsonl", "second.jsonl")
    ]
    assert exported == [3, 1]
    assert shop.found("heron", "--limit", "0") == []
    info = shop.ultracrawl("index", "info", "--json")
    assert info.json["sources"] == {"shop": 4}


def test_what_a_killed_crawl_had_accepted_is_in_the_index_after_the_next(shop: Desk) -> None:
    killed = shop.scrapy(
        "crawl",
        "shop",
        "-s",
        'ITEM_PIPELINES={"ultracrawl.pipelines.IndexPipeline": 1, "theirs.shop.Killed": 2}',
    )
    assert killed.code == -signal.SIGKILL
    assert shop.found("heron") == []
    shop.crawled("shop", "-s", "OFFERS=0")
    assert shop.found("heron") == ["/0", "/1", "/2"]


def test_mistakes_in_settings_end_the_crawl_with_a_line_each_and_no_traceback(shop: Desk) -> None:
    ended = shop.scrapy(
        "crawl", "shop", "-s", "LOG_LEVEL=ERROR", "-s", 'ULTRACRAWL_INDEX={"engine": "lucene", "size": 1}'
    )
    assert ended.code == 1
    assert [line.split(" - ")[1] for line in ended.err.splitlines()] == [
        "ULTRACRAWL_INDEX.engine",
        "ULTRACRAWL_INDEX.size",
    ]


def test_verbs_that_crawl_ask_for_definitions(shop: Desk) -> None:
    ended = shop.ultracrawl("crawl")
    assert ended.code == 2
    assert ended.err.startswith(sentence("definitions.no_file")) or "no definition file" in ended.err
