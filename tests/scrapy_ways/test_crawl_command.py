"""`scrapy crawl` of a source is the run function of all other ways; a spider of the project stays Scrapy's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support.site import Site

SPIDER = """
import scrapy
from ultracrawl.spiders import SourceSpider

class Own(scrapy.Spider):
    name = "own"

    async def start(self):
        yield {"given": self.given}

class Source(SourceSpider):
    def __init__(self, *args, **arguments):
        if "given" not in arguments:
            raise ValueError("nothing is given")
        super().__init__(*args, **arguments)

    async def start(self):
        print("given", self.given)
        async for item in super().start():
            yield item
"""


@pytest.fixture
def reported(desk: Desk, site: Site, url: str) -> Path:
    """Return the file to which the completion command of the source `one` writes."""
    site.page("/", title="Home", text="needle")
    reported = desk.directory / "reported"
    desk.write("tell.py", f"import os; open({str(reported)!r}, 'a').write(os.environ['ULTRACRAWL_RESULT'])")
    command = [sys.executable, str(desk.directory / "tell.py")]
    after = ["documents", "nothing new", "failure"]
    desk.scrapy_cfg()
    desk.define(
        one={
            "start_urls": [f"{url}/"],
            "class": "own.Source",
            "completion": {"command": command, "after": after},
        }
    )
    desk.write("own.py", SPIDER)
    return reported


def test_the_completion_command_follows_and_arguments_reach_the_spider(desk: Desk, reported: Path) -> None:
    ended = desk.crawled("one", "-a", "given=thing", PYTHONPATH=str(desk.directory))
    assert "given thing" in ended.out
    assert reported.read_text() == "done"
    assert desk.found("needle") == ["/"]


def test_a_crawl_that_cannot_begin_is_completed_noted_and_fails(desk: Desk, reported: Path) -> None:
    ended = desk.scrapy("crawl", "one", PYTHONPATH=str(desk.directory))
    assert ended.code == 1
    assert "nothing is given" in ended.err
    assert reported.read_text() == "failed"
    (row,) = desk.ultracrawl("status", "--json").json["sources"]
    assert "nothing is given" in row["failure"]["problem"]


def test_a_mistake_of_the_definition_is_one_of_the_command_line(desk: Desk, reported: Path) -> None:
    (desk.directory / "own.py").unlink()
    ended = desk.scrapy("crawl", "one")
    assert (ended.code, reported.exists()) == (2, False)
    assert "own.Source" in ended.err


def test_a_spider_of_the_project_is_crawled_by_scrapy(desk: Desk, reported: Path) -> None:
    ended = desk.scrapy(
        "crawl",
        "own",
        "-a",
        "given=thing",
        "-s",
        "SPIDER_MODULES=own",
        "-O",
        "-:json",
        PYTHONPATH=str(desk.directory),
    )
    assert (ended.code, '"given": "thing"' in ended.out) == (0, True), ended.err
    assert not reported.exists()
