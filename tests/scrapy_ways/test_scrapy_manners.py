"""What a user of Scrapy relies on in any crawl: signals, statistics, feeds, the HTTP cache, and ends by CLOSESPIDER."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy_ways.runs import Desk
from support.project import Ended
from support.sentences import sentence
from support.site import Site

SPY = '''
import json
from collections import Counter
from scrapy import signals

NAMES = (
    "spider_opened", "request_reached_downloader", "response_downloaded", "response_received", "item_scraped",
    "spider_error", "spider_idle", "spider_closed", "engine_stopped",
)

class Spy:
    """Counts signals, and writes them and the statistics to a file."""

    def __init__(self, crawler):
        self.crawler, self.heard, self.reason = crawler, Counter(), ""
        for name in NAMES:
            def heard(name=name, **given):
                self.hear(name, given)
            setattr(self, name, heard)
            crawler.signals.connect(heard, getattr(signals, name), weak=False)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def hear(self, name, given):
        self.heard[name] += 1
        if name == "spider_closed":
            self.reason = given["reason"]
        if name == "engine_stopped":
            told = {"heard": self.heard, "reason": self.reason, "stats": self.crawler.stats.get_stats()}
            with open("spy.json", "w") as stream:
                json.dump(told, stream, default=str)
'''
BROKEN = """
from ultracrawl.spiders import SourceSpider

class Broken(SourceSpider):
    def documents(self, response, page):
        if "a" in page.title:
            raise ValueError(page.title)
        return super().documents(response, page)
"""


class Watched(Desk):
    """A project with a source, whose crawls are watched by an extension."""

    def reported(self) -> dict[str, Any]:
        """Return what the extension saw of the last crawl."""
        data = json.loads((self.directory / "spy.json").read_text())
        assert isinstance(data, dict)
        return data

    def crawl(self, *settings: str, **env: str) -> Ended:
        """Run `scrapy crawl site` with some settings."""
        words = [word for setting in settings for word in ("-s", setting)]
        ended = self.scrapy("crawl", "site", *words, **env)
        assert ended.code == 0, ended.err
        return ended


def watched(directory: Path, url: str, **options: object) -> Watched:
    desk = Watched(directory)
    desk.scrapy_cfg()
    desk.write("spy.py", SPY)
    desk.write("broken.py", BROKEN)
    settings = {"EXTENSIONS": {"spy.Spy": 1}, "FEEDS": {"new.jsonl": {"format": "jsonlines"}}}
    polite = {"politeness": {"delay": 0, "concurrency": 1}, "start_urls": [f"{url}/"], "settings": settings}
    desk.define(site={**polite, **options})
    return desk


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Watched, Ended]]:
    """Return a project after one crawl of three pages, one of them forbidden and one missing."""
    site = Site()
    site.robots("User-agent: *\nDisallow: /private\n")
    site.page("/", title="Home", links=["/a", "/private", "/none", "http://other.example/"])
    site.page("/a", title="Vacation", text="how to request a vacation")
    with site.serve() as url:
        desk = watched(tmp_path_factory.mktemp("watched"), url)
        yield desk, desk.crawl()


@pytest.fixture
def pages(site: Site) -> Site:
    """Return a site of 21 pages, which links one after the other."""
    site.page("/", title="Home", links=["/0", "/private"])
    for number in range(20):
        site.page(f"/{number}", title=f"Page {number}", links=[f"/{number + 1}"], text=f"text {number}")
    return site


# ---- signals and statistics


def test_signals_come_as_in_any_crawl(crawled: tuple[Watched, Ended]) -> None:
    reported = crawled[0].reported()
    heard = reported["heard"]
    assert (heard["spider_opened"], heard["spider_closed"], reported["reason"]) == (1, 1, "finished")
    assert heard["spider_idle"] >= 1
    assert heard["item_scraped"] == 2
    assert heard["response_received"] == heard["request_reached_downloader"] >= 4
    assert "spider_error" not in heard


def test_statistics_have_what_scrapy_has(crawled: tuple[Watched, Ended]) -> None:
    reported = crawled[0].reported()
    stats, answers = reported["stats"], reported["heard"]["response_received"]
    assert stats["downloader/request_count"] == stats["downloader/request_method_count/GET"] == answers
    assert stats["downloader/response_count"] == stats["response_received_count"] == answers
    by_status = [stats[f"downloader/response_status_count/{status}"] for status in (200, 404)]
    assert sum(by_status) == answers
    assert (stats["item_scraped_count"], stats["finish_reason"]) == (2, "finished")
    assert stats["downloader/exception_type_count/scrapy.exceptions.IgnoreRequest"] == 1, "by robots.txt"
    assert {"start_time", "finish_time", "elapsed_time_seconds"} <= stats.keys()


def test_statistics_have_what_became_of_the_urls(crawled: tuple[Watched, Ended]) -> None:
    stats = crawled[0].reported()["stats"]
    outcomes = {name.split("/")[-1]: stats[name] for name in stats if name.startswith("ultracrawl/outcome/")}
    assert outcomes == {"NEW": 2, "ROBOTS": 1, "GONE": 1}
    assert (stats["ultracrawl/scheduled"], stats["ultracrawl/indexed"], stats["ultracrawl/excluded"]) == (
        4,
        2,
        2,
    )


def test_statistics_are_dumped(crawled: tuple[Watched, Ended]) -> None:
    assert crawled[1].err.count("Dumping Scrapy stats") == 1
    assert "'downloader/response_status_count/404': " in crawled[1].err


def test_statistics_are_not_dumped_where_the_user_does_not_want_it(desk: Desk, url: str) -> None:
    project = watched(desk.directory, url)
    assert "Dumping" not in project.crawl("STATS_DUMP=0").err
    assert "Dumping" not in project.ultracrawl("crawl", "-v").err


# ---- feeds and the HTTP cache


def test_feeds_have_new_documents(crawled: tuple[Watched, Ended]) -> None:
    lines = (crawled[0].directory / "new.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["title"] for line in lines) == ["Home", "Vacation"]


def test_the_http_cache_answers_in_the_place_of_the_server(desk: Desk, site: Site, url: str) -> None:
    project = watched(desk.directory, url)
    project.crawl()
    cached = ("HTTPCACHE_ENABLED=1", "HTTPCACHE_DIR=cache")
    project.crawl(*cached)
    assert project.reported()["stats"]["ultracrawl/outcome/NOT_MODIFIED"] == 2, "that is no page to be kept"
    project.crawl(*cached, "ULTRACRAWL_FORCE=1")
    asked = site.counts()
    project.crawl(*cached, "ULTRACRAWL_FORCE=1")
    stats = project.reported()["stats"]
    assert stats["ultracrawl/outcome/REINDEXED"] == 2
    assert stats["httpcache/hit"] >= 2
    assert site.counts()["/a"] == asked["/a"]
    assert project.found("vacation") == ["/a"]


# ---- ends


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("CLOSESPIDER_ITEMCOUNT=3", "closespider_itemcount"),
        ("CLOSESPIDER_PAGECOUNT=4", "closespider_pagecount"),
        ("CLOSESPIDER_TIMEOUT=0.3", "closespider_timeout"),
    ],
)
def test_a_crawl_that_closespider_ended_is_resumed(
    desk: Desk, pages: Site, url: str, setting: str, reason: str
) -> None:
    delay = 0.05 if "TIMEOUT" in setting else 0
    project = watched(desk.directory, url, politeness={"delay": delay, "concurrency": 1})
    project.crawl(setting)
    assert project.reported()["reason"] == project.reported()["stats"]["finish_reason"] == reason
    done = pages.page_paths()
    assert done < {"/", *(f"/{number}" for number in range(20))}
    again = project.ultracrawl("crawl", "--json")
    assert (again.run["resumed"], again.run["ended_by"]) == (True, None)
    assert {outcome for path, outcome in project.outcomes().items() if path != "/20"} == {"NEW", "ROBOTS"}
    assert all(pages.count(path) == 1 for path in done - {"/"}), "what was done is not fetched again"


def test_the_report_says_what_ended_it(desk: Desk, pages: Site, url: str) -> None:
    settings = {"CLOSESPIDER_ITEMCOUNT": 3, "DEPTH_LIMIT": 1}
    desk.define(
        site={"start_urls": [f"{url}/"], "settings": settings, "politeness": {"delay": 0, "concurrency": 1}}
    )
    ended = desk.ultracrawl("crawl")
    assert sentence("scrapy.ended_by_itemcount") in ended.out
    assert sentence("scrapy.depth_limit_has_no_effect") in ended.out
    assert ended.code == 0


def test_errors_of_a_class_count(desk: Desk, pages: Site, url: str) -> None:
    limits = {"retries": 0}
    project = watched(desk.directory, url, **{"class": "broken.Broken", "limits": limits})
    project.crawl("CLOSESPIDER_ERRORCOUNT=2")
    reported = project.reported()
    assert (reported["reason"], reported["heard"]["spider_error"]) == ("closespider_errorcount", 2)
    assert reported["stats"]["spider_exceptions/ValueError"] == 2
