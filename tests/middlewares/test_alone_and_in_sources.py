"""The middlewares of both worlds: alone for spiders without a definition, and those of the source for its spider."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler
from support.sentences import sentence

import ultracrawl.middlewares
from ultracrawl.addon import UltracrawlAddon
from ultracrawl.middlewares.acceptance import AcceptanceMiddleware
from ultracrawl.middlewares.robots import RobotsMiddleware
from ultracrawl.sources import DataSource, DefinitionHead, make_project
from ultracrawl.spiders.loader import make_spider_class

ADDON = {"ADDONS": {"ultracrawl.addon.UltracrawlAddon": 500}}
NUMBERS = {"Rewriter": 40, "Robots": 100, "RedirectBoundary": 605, "Conditional": 705}
ALONE = {f"ultracrawl.middlewares.{name}Middleware": number for name, number in NUMBERS.items()}


class PlainSpider(Spider):
    name = "plain"


def test_their_names_are_those_of_the_wing() -> None:
    assert {f"ultracrawl.middlewares.{name}" for name in ultracrawl.middlewares.__all__} == ALONE.keys()


@pytest.mark.parametrize("settings", [{}, ADDON])
def test_what_works_for_sources_alone_names_the_true_cause(settings: dict[str, Any]) -> None:
    crawler = get_crawler(PlainSpider, settings)
    with pytest.raises(NotConfigured, match="the spider 'plain' has no data source definition"):
        AcceptanceMiddleware.from_crawler(crawler)


def test_a_source_without_the_addon_says_so(tmp_path: Any) -> None:
    source = DataSource(name="s", start_urls=("http://h.example/",))
    crawler = get_crawler(make_spider_class(make_project(DefinitionHead(), {"s": source}, tmp_path), source))
    with pytest.raises(NotConfigured, match=sentence("scrapy.ultracrawl_add_on_not_switched")):
        RobotsMiddleware.from_crawler(crawler)


def test_a_source_has_its_own_middlewares_where_a_project_has_some_for_its_spiders() -> None:
    settings = Settings({"DOWNLOADER_MIDDLEWARES": ALONE})
    UltracrawlAddon(DataSource(name="s", start_urls=("http://h.example/",))).update_settings(settings)
    ours = {
        path: number
        for path, number in settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES").items()
        if path.startswith("ultracrawl.")
    }
    assert not ours.keys() & ALONE.keys()
    assert ours["ultracrawl.middlewares.redirect.RedirectBoundaryMiddleware"] == 520


def test_spiders_without_a_definition_keep_theirs() -> None:
    settings = Settings({"DOWNLOADER_MIDDLEWARES": ALONE})
    UltracrawlAddon(None).update_settings(settings)
    assert dict(settings["DOWNLOADER_MIDDLEWARES"]) == ALONE
