"""The pipelines at work for a spider without a definition: items go through them as Scrapy sends them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest
import scrapy
from pydantic import BaseModel
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.test import get_crawler
from support.inline_indexer import InlineIndexer
from support.sentences import sentence

import ultracrawl.index.writing.project_outputs
from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engines import open_index
from ultracrawl.index.project_index import index_config
from ultracrawl.index.searching import Searcher
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.run import IndexWriter
from ultracrawl.settings.projects import plain_project
from ultracrawl.sources import Project, adhoc_project
from ultracrawl.stores.sqlite.database import lock_file

CHECKSUM, ATTRIBUTES, INDEX = (
    f"ultracrawl.pipelines.{name}" for name in ("ChecksumPipeline", "AttributePipeline", "IndexPipeline")
)
ALL = (CHECKSUM, ATTRIBUTES, INDEX)


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write indexes in this process."""

    def open_indexer(project: Project, name: str = "default") -> InlineIndexer:
        return InlineIndexer(open_index(index_config(project, name)))

    monkeypatch.setattr(ultracrawl.index.writing.project_outputs, "open_indexer", open_indexer)


class Engine:
    """Takes the wish that the spider is closed."""

    spider = "open"

    def __init__(self, closed: list[str]) -> None:
        self._closed = closed
        self.scraper = SimpleNamespace(slot=SimpleNamespace(is_idle=lambda: True))

    async def close_spider_async(self, *, reason: str) -> None:
        self._closed.append(reason)


@dataclass
class Folder:
    """A Scrapy project with its folder for data; each call is a crawl."""

    path: Path
    settings: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    refused: bool = False
    closed: list[str] = field(default_factory=list)

    def crawl(
        self, *items: Any, spider: str = "shop", pipelines: Sequence[object] = ALL, **settings: Any
    ) -> list[Any]:
        """Return the items that pass all pipelines."""
        return self.crawl_by({"name": spider}, *items, pipelines=pipelines, **settings)

    def crawl_by(
        self, spider: dict[str, Any], *items: Any, pipelines: Sequence[object] = ALL, **settings: Any
    ) -> list[Any]:
        """Do the same with a spider class of some members."""
        chosen: dict[str, Any] = {"ULTRACRAWL_DATA": str(self.path), **self.settings, **settings}
        chosen["ITEM_PIPELINES"] = {one: number for number, one in enumerate(pipelines)}
        crawler = get_crawler(type("Own", (scrapy.Spider,), spider), chosen)
        return asyncio.run(self._crawl(crawler, items))

    async def _crawl(self, crawler: Crawler, items: Sequence[Any]) -> list[Any]:
        crawler.spider = crawler._create_spider()
        crawler.engine = cast("Any", Engine(self.closed))
        manager = ItemPipelineManager.from_crawler(crawler)
        answers = await self._send(crawler, signals.spider_opened)
        self.refused = any(isinstance(answer, CloseSpider) for _, answer in answers)
        passed = (
            []
            if self.refused
            else [one for item in items for one in await self._pass(crawler, manager, item)]
        )
        await self._send(crawler, signals.spider_closed, reason="finished")
        self.stats = crawler.stats.get_stats()
        return passed

    async def _pass(self, crawler: Crawler, manager: ItemPipelineManager, item: Any) -> list[Any]:
        try:
            done = await manager.process_item_async(item)
        except DropItem as error:
            await self._send(crawler, signals.item_dropped, item=item, response=None, exception=error)
        except RuntimeError as error:
            await self._send(crawler, signals.item_error, item=item, response=None, failure=error)
        else:
            await self._send(crawler, signals.item_scraped, item=done, response=None)
            return [done]
        return []

    async def _send(self, crawler: Crawler, signal: object, **told: Any) -> list[Any]:
        spider = crawler.spider
        return await crawler.signals.send_catch_log_async(signal, spider=spider, dont_log=CloseSpider, **told)

    def count(self, name: str) -> int:
        number = self.stats.get(f"ultracrawl/items/{name}", 0)
        assert isinstance(number, int)
        return number

    def found(self, text: str = "", *filters: str, **how: Any) -> list[str]:
        """Return the URLs that a search finds, by the settings of the project alone."""
        project = plain_project({"ULTRACRAWL_DATA": str(self.path), **self.settings})
        assert project is not None
        with Searcher(project) as searcher:
            return sorted(hit.url for hit in searcher.search(text, filters=filters, **how).hits)


@pytest.fixture
def shop(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "data")


def heron(**other: Any) -> dict[str, Any]:
    return {"url": "http://shop/1", "name": "A heron of tin", **other}


def test_an_item_whose_url_would_run_a_script_is_dropped(shop: Folder) -> None:
    passed = shop.crawl(heron(), heron(url="javascript:alert(1)"))
    assert [item["url"] for item in passed] == shop.found() == ["http://shop/1"]


class Scrap(scrapy.Item):
    url = scrapy.Field()
    name = scrapy.Field()


@dataclass
class Plain:
    url: str
    name: str = ""


@attrs.define
class Defined:
    url: str
    name: str = ""


class Modelled(BaseModel):
    url: str
    name: str = ""


KINDS: list[Callable[..., Any]] = [dict, Scrap, Plain, Defined, Modelled]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_item_is_indexed_and_dropped_while_it_stays_as_it_is(shop: Folder, kind: Any) -> None:
    def crawl(name: str) -> int:
        return len(shop.crawl(kind(url="http://shop/1", name=name)))

    assert [crawl("tin heron"), crawl("tin heron"), crawl("iron heron"), crawl("iron heron")] == [1, 0, 1, 0]
    assert shop.count("unchanged") == 1
    assert shop.found("iron") == ["http://shop/1"]
    assert shop.found("tin") == []


def test_the_smallest_item_has_a_url(shop: Folder) -> None:
    assert len(shop.crawl({"url": "http://shop/1"})) == 1
    assert shop.crawl({"url": "http://shop/1"}) == []
    assert shop.found() == ["http://shop/1"]


def test_items_without_a_url_pass_untouched_and_are_reported_once(
    shop: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    assert shop.crawl({"name": "a"}, {"name": "b", "url": None}) == [
        {"name": "a"},
        {"name": "b", "url": None},
    ]
    assert shop.count("without_url") == 2
    assert [record.getMessage().split(", such as")[0] for record in caplog.records].count(
        sentence("pipelines.item_without_url")
    ) == 1


def test_several_items_of_a_url_are_compared_each_for_itself(shop: Folder) -> None:
    offers = [heron(price=3), heron(price=4)]
    assert len(shop.crawl(*map(dict, offers), pipelines=[CHECKSUM])) == 2
    assert shop.crawl(*map(dict, offers), pipelines=[CHECKSUM]) == []
    assert [one["price"] for one in shop.crawl(heron(price=3), heron(price=5), pipelines=[CHECKSUM])] == [5]


def test_an_item_that_comes_twice_is_dropped_twice(shop: Folder) -> None:
    assert len(shop.crawl(heron(), heron(), pipelines=[CHECKSUM])) == 2
    assert shop.crawl(heron(), heron(), pipelines=[CHECKSUM]) == []


def test_the_checksum_of_an_item_is_over_all_its_fields_in_any_order(shop: Folder) -> None:
    shop.crawl(heron(tags={"b", "a"}, seen=date(2026, 1, 2)), pipelines=[CHECKSUM])
    again = {"seen": date(2026, 1, 2), "tags": {"a", "b"}, **heron()}
    assert shop.crawl(again, pipelines=[CHECKSUM]) == []
    assert len(shop.crawl(heron(tags=["a", "c"], seen=date(2026, 1, 2)), pipelines=[CHECKSUM])) == 1


def test_an_item_may_say_itself_what_it_is_compared_by(shop: Folder) -> None:
    (first,) = shop.crawl(heron(checksum="v1", seen=1))
    assert len(first["checksum"]) == 64
    assert shop.crawl(heron(checksum="v1", seen=2)) == []
    assert len(shop.crawl(heron(checksum="v2", seen=2))) == 1


class Faulty:
    """A pipeline of somebody that cannot store what it is given."""

    def process_item(self, item: Any) -> Any:
        raise RuntimeError("the database is away")


class Copying:
    """A pipeline of somebody that puts another item in place of each."""

    def process_item(self, item: Any) -> Any:
        return dict(item, shop="tin")


def test_what_a_later_pipeline_could_not_take_comes_again(shop: Folder) -> None:
    assert shop.crawl(heron(), pipelines=[*ALL, Faulty]) == []
    assert len(shop.crawl(heron())) == 1
    assert shop.crawl(heron()) == []


def test_a_crawl_ends_whose_documents_cannot_be_written_and_nothing_of_it_counts(
    shop: Folder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    items = [{"url": f"http://shop/{number}"} for number in range(3)]

    def append(cache: DocumentCache, key: int, change: object) -> None:
        raise IndexStoreError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(DocumentCache, "append", append)
        assert shop.crawl(*map(dict, items)) == []
    assert shop.closed == ["failed"]
    assert [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR] == [
        "the disk is full"
    ]
    assert len(shop.crawl(*map(dict, items))) == 3
    assert len(shop.found()) == 3


def test_a_pipeline_may_put_another_item_in_place_of_one(shop: Folder) -> None:
    both = [CHECKSUM, Copying, ATTRIBUTES, INDEX]
    assert len(shop.crawl(heron(), pipelines=both)) == 1
    assert shop.crawl(heron(), pipelines=both) == []
    assert shop.found("tin") == ["http://shop/1"]


def test_mapped_attributes_are_found_by_name_and_type(shop: Folder) -> None:
    shop.settings["ULTRACRAWL_ATTRIBUTES"] = {
        "author": "Author",
        "Colour": "Colour",
        "price": {"name": "Price", "type": "number"},
        "made": {"name": "Made", "type": "date"},
    }
    shop.crawl(
        heron(author="Ann", colour=["red", "blue"], price=3, made=date(2025, 5, 1)),
        Plain("http://shop/2"),
        {"url": "http://shop/3", "attributes": {"price": "7.5"}, "price": "no number"},
        {"url": "http://shop/4", "price": "dear"},
    )
    assert shop.found("", "Author=Ann", "Colour=blue", "Made<2026") == ["http://shop/1"]
    assert shop.found("", "Price>=1") == ["http://shop/1", "http://shop/3"]
    assert shop.count("dropped_values") == 1


def test_attributes_of_items_without_a_field_for_them_reach_the_index(shop: Folder) -> None:
    shop.settings["ULTRACRAWL_ATTRIBUTES"] = {"name": "Subject"}
    (item,) = shop.crawl(Plain("http://shop/1", "Tin"))
    assert item == Plain("http://shop/1", "Tin"), "nothing is added to it"
    assert shop.found("", "Subject=Tin") == ["http://shop/1"]


def test_the_text_of_an_item_is_its_text_or_the_words_of_its_fields(shop: Folder) -> None:
    shop.crawl(
        {"url": "http://shop/1", "title": None, "text": ["Grey", "heron"], "note": "egret"},
        {"url": "http://shop/2", "title": "Stork", "note": ["egret", "bittern"], "size": 4},
    )
    assert shop.found("grey heron") == ["http://shop/1"]
    assert shop.found("egret bittern") == ["http://shop/2"]
    assert shop.found("stork") == ["http://shop/2"]
    assert shop.found("None") == []


def test_several_spiders_write_to_one_index(shop: Folder) -> None:
    shop.crawl(heron(), spider="tin shop")
    shop.crawl({"url": "http://other/1", "name": "heron"}, spider="other")
    assert shop.found("heron") == ["http://other/1", "http://shop/1"]
    assert shop.found("heron", sources=["tin-shop"]) == ["http://shop/1"]


def test_items_wait_for_an_index_that_lags_behind(shop: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    lagging = [True, True, True, False]
    monkeypatch.setattr(
        IndexWriter, "congested", property(lambda writer: lagging.pop(0) if lagging else False)
    )
    assert len(shop.crawl(heron())) == 1
    assert lagging == []
    assert shop.found("heron") == ["http://shop/1"]


def test_an_item_that_does_not_come_again_stays(shop: Folder) -> None:
    shop.crawl(heron(), {"url": "http://shop/2", "name": "heron"})
    shop.crawl(heron())
    assert shop.found("heron") == ["http://shop/1", "http://shop/2"]


def test_an_index_that_has_nothing_gets_everything(shop: Folder) -> None:
    shop.crawl(heron(), pipelines=[CHECKSUM])
    assert len(shop.crawl(heron())) == 1, "it was compared before, and is not in the index"
    assert shop.crawl(heron()) == []
    assert shop.found("heron") == ["http://shop/1"]


def test_a_damaged_index_is_made_sound_and_filled_again(
    shop: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    shop.crawl(heron())
    for segment in (shop.path / "index").glob("*.seg"):
        segment.write_bytes(b"\0" * segment.stat().st_size)
    assert len(shop.crawl(heron())) == 1
    assert sentence("index.repaired_from_documents") in caplog.text
    assert shop.found("heron") == ["http://shop/1"]


def test_force_takes_what_is_unchanged(shop: Folder) -> None:
    shop.crawl(heron())
    assert len(shop.crawl(heron(), ULTRACRAWL_FORCE=True)) == 1


def test_the_index_lies_where_its_setting_says(shop: Folder) -> None:
    shop.settings["ULTRACRAWL_INDEX"] = {"engine": "whoosh", "path": "own"}
    shop.crawl(heron())
    assert any((shop.path / "own").iterdir())
    assert not (shop.path / "index").exists()
    assert shop.found("heron") == ["http://shop/1"]


def test_two_crawls_of_one_spider_do_not_mix(shop: Folder, caplog: pytest.LogCaptureFixture) -> None:
    project = plain_project({"ULTRACRAWL_DATA": str(shop.path)})
    assert project is not None
    with lock_file(cache_folder(project, "shop"), "shop"):
        assert shop.crawl(heron(), pipelines=[INDEX]) == []
    assert shop.refused
    assert sentence("crawl.shop_by_another_process") in caplog.text
    assert len(shop.crawl(heron(), pipelines=[INDEX])) == 1


@pytest.mark.parametrize("pipeline", ALL)
def test_without_a_folder_a_pipeline_says_what_is_missing(
    pipeline: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert Folder(Path()).crawl(heron(), pipelines=[pipeline], ULTRACRAWL_DATA=None) == [heron()]
    missing = "ULTRACRAWL_DATA is not set: it names the folder of state and index"
    assert f"Disabled {pipeline}: {missing}" in caplog.text


def test_the_add_on_leaves_a_spider_without_a_definition_its_pipelines(shop: Folder) -> None:
    switched_on = {"ultracrawl.addon.UltracrawlAddon": 500}
    assert shop.crawl(heron(), ADDONS=switched_on) != []
    assert shop.crawl(heron(), ADDONS=switched_on) == []
    assert shop.found("heron") == ["http://shop/1"]


@pytest.mark.parametrize("pipeline", ALL)
def test_a_source_without_the_add_on_says_that_it_is_off(
    shop: Folder, pipeline: str, caplog: pytest.LogCaptureFixture
) -> None:
    project = adhoc_project(["http://shop.example/"], shop.path)
    (source,) = project.sources.values()
    shop.crawl_by({"name": source.name, "source": source, "project": project}, heron(), pipelines=[pipeline])
    assert sentence("pipelines.disabled", pipeline=pipeline) in caplog.text


def test_all_mistakes_are_reported_at_once(shop: Folder, caplog: pytest.LogCaptureFixture) -> None:
    shop.settings |= {
        "ULTRACRAWL_INDEX": {"engine": "lucene"},
        "ULTRACRAWL_ATTRIBUTES": {"price": {"name": "Price", "type": "money"}, "made": {"typ": "date"}},
    }
    shop.crawl(heron())
    assert shop.refused
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    beginnings = [line.split(" - ")[:2] for line in told]
    assert beginnings == [
        ["shop: not crawled: settings", f"ULTRACRAWL_{one}"]
        for one in ("ATTRIBUTES.price.type", "ATTRIBUTES.made.name", "ATTRIBUTES.made.typ", "INDEX.engine")
    ]


def test_the_index_is_opened_though_only_the_spider_knows_the_hosts_of_the_boundary(tmp_path: Path) -> None:
    boundary = {"uris": {"exclude": [{"suffix": "/print"}]}}
    project = plain_project({"ULTRACRAWL_DATA": str(tmp_path), "ULTRACRAWL_BOUNDARY": boundary})
    assert project is not None
    assert index_config(project).path == tmp_path / "index"
