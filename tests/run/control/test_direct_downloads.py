"""Answers are handled where they arrive; by way of Scrapy's scraper only where somebody else takes part."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.core.scraper import Scraper
from scrapy.http import Response
from support.project import Workspace
from support.site import Site

PARTIES = '''
from scrapy import signals
from scrapy.spidermiddlewares.start import StartSpiderMiddleware

from ultracrawl.settings.log_formatter import QuietLogFormatter

class Start(StartSpiderMiddleware):
    """One of Scrapy's that somebody has changed."""

class Formatter(QuietLogFormatter):
    """Ours that somebody has changed."""

class Middleware:
    """Lets through what comes."""

    async def process_spider_output(self, response, result):
        async for one in result:
            yield one

class Listener:
    """Hears of requests that are scheduled."""

    def __init__(self, crawler):
        crawler.signals.connect(self.heard, signals.request_scheduled)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def heard(self, request, spider):
        """Do nothing."""
'''


@pytest.mark.parametrize(
    ("settings", "seen"),
    [
        ({}, 0),
        ({"SPIDER_MIDDLEWARES": {"parties.Middleware": 50}}, 2),
        ({"SPIDER_MIDDLEWARES": {"parties.Start": 25}}, 2),
        ({"EXTENSIONS": {"parties.Listener": 1}}, 2),
        ({"LOG_FORMATTER": "scrapy.logformatter.LogFormatter"}, 2),
        ({"LOG_FORMATTER": "parties.Formatter"}, 2),
    ],
    ids=["nobody", "middleware", "changed middleware", "listener", "log formatter", "changed log formatter"],
)
def test_scrapy_sees_the_answers_that_concern_others(
    site: Site,
    url: str,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    seen: int,
) -> None:
    answers: list[str] = []
    enqueue = Scraper.enqueue_scrape

    def noted(self: Scraper, result: Any, request: Any) -> Any:
        assert isinstance(result, Response)
        answers.append(result.url)
        return enqueue(self, result, request)

    monkeypatch.setattr(Scraper, "enqueue_scrape", noted)
    monkeypatch.syspath_prepend(str(workspace.directory))
    (workspace.directory / "parties.py").write_text(PARTIES)
    site.robots("")
    site.page("/", title="first", links=["/b"])
    site.page("/b", title="second")
    workspace.define(f"{url}/", settings=settings, sitemaps={"use": False})
    outcomes = [
        {name: number for name, number in run["outcomes"].items() if number}
        for run in (workspace.crawl().run, workspace.crawl().run)
    ]
    assert outcomes == [{"NEW": 2}, {"NOT_MODIFIED": 2}]
    assert len(answers) == 2 * seen
