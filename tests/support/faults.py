"""Code of others that fails a crawl in every way there is, written as a module `faults` beside a definition."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

CODE = '''
"""Each class fails on URLs that hold the word `hit`, or once for all."""

import asyncio

from scrapy import Request
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest
from scrapy.http import HtmlResponse
from ultracrawl.handlers import HTTP_HANDLER
from ultracrawl.spiders import SourceSpider
from scrapy.utils.misc import load_object


class Odd(BaseException):
    """No `Exception`."""


def is_hit(url):
    return "hit" in str(url)


async def never():
    await asyncio.get_running_loop().create_future()


async def stubborn():
    while True:
        try:
            await never()
        except asyncio.CancelledError:
            pass


def raising(error):
    def act(*_):
        raise error
    return act


ACTS = {
    "raise": raising(ValueError("boom")),
    "odd": raising(Odd("odd")),
    "cancelled": raising(asyncio.CancelledError()),
    "generator exit": raising(GeneratorExit()),
    "system exit": raising(SystemExit(3)),
    "ignore": raising(IgnoreRequest("not wanted")),
    "drop": raising(DropItem("not wanted")),
    "close": raising(CloseSpider("enough")),
}


class BeforeDownload:
    act = "raise"

    def process_request(self, request):
        if is_hit(request.url):
            return ACTS[self.act]()


class HangsBeforeDownload:
    async def process_request(self, request):
        if is_hit(request.url):
            await never()


class HoldsRobots:
    async def process_request(self, request):
        if request.url.endswith("/robots.txt"):
            await never()


class StubbornBeforeDownload:
    async def process_request(self, request):
        if is_hit(request.url):
            await stubborn()


class AsksForAnother:
    def process_request(self, request):
        if is_hit(request.url) and "elsewhere" not in request.url:
            return Request(request.url.replace("hit", "elsewhere"), callback=lambda response: None)


class AsksForTheSame:
    """Gives back the request itself, as retries do, once."""

    def process_request(self, request):
        if is_hit(request.url) and not request.meta.get("again"):
            return request.replace(meta={**request.meta, "again": True}, dont_filter=True)


class AnswersItself:
    def process_request(self, request):
        if is_hit(request.url):
            return HtmlResponse("http://unrelated.example/", body=b"<title>x</title><p>unrelated</p>")


class LosesAnswer:
    def process_response(self, request, response):
        return None if is_hit(request.url) else response


class ChangesAnswer:
    """Gives an answer that belongs to a request which nobody made."""

    def process_response(self, request, response):
        if not is_hit(request.url):
            return response
        other = Request("http://unrelated.example/", callback=lambda response: None)
        return HtmlResponse("http://unrelated.example/", body=b"<p>x</p>", request=other)


class TakesCallback:
    def process_request(self, request):
        if is_hit(request.url):
            request.callback = lambda response: None


class Swallows:
    async def process_spider_output(self, response, result):
        if is_hit(response.url):
            return
        async for one in result:
            yield one


class OutputRaises:
    async def process_spider_output(self, response, result):
        async for one in result:
            if is_hit(response.url):
                raise ValueError("boom")
            yield one


class InputRaises:
    def process_spider_input(self, response):
        if is_hit(response.url):
            raise ValueError("boom")


class OutputHangs:
    async def process_spider_output(self, response, result):
        async for one in result:
            if is_hit(response.url):
                await never()
            yield one


class OutputOdd:
    async def process_spider_output(self, response, result):
        async for one in result:
            if is_hit(response.url):
                raise Odd("odd")
            yield one


class Pipeline:
    act = "raise"

    def process_item(self, item):
        if is_hit(item.access_url):
            ACTS[self.act]()
        return item


class PipelineHangs:
    async def process_item(self, item):
        if is_hit(item.access_url):
            await never()
        return item


class PipelineLoses:
    def process_item(self, item):
        return {"nothing": 1} if is_hit(item.access_url) else item


class PipelineDropsAnother:
    def process_item(self, item):
        if is_hit(item.access_url):
            item.access_url = "http://unrelated.example/"
            raise DropItem("not wanted")
        return item


class CloseHangs:
    def process_item(self, item):
        return item

    async def close_spider(self):
        await never()


class Handler:
    lazy = True
    ultracrawl_guarded_by = "itself"

    def __init__(self, crawler):
        self.real = load_object(HTTP_HANDLER).from_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def download_request(self, request):
        if is_hit(request.url):
            await self.fail()
        return await self.real.download_request(request)

    async def close(self):
        await self.real.close()


class HandlerHangs(Handler):
    async def fail(self):
        await never()


class HandlerOdd(Handler):
    async def fail(self):
        raise Odd("odd")


class Links(SourceSpider):
    act = "raise"

    def links(self, response, page):
        if is_hit(response.url):
            ACTS[self.act]()
        return super().links(response, page)


class Documents(SourceSpider):
    act = "raise"

    def documents(self, response, page):
        if is_hit(response.url):
            ACTS[self.act]()
        yield {}


class NoDocuments(SourceSpider):
    def documents(self, response, page):
        return None if is_hit(response.url) else [{}]


class NoVisit(SourceSpider):
    def visit(self, response):
        return None if is_hit(response.url) else super().visit(response)


class VisitRaises(SourceSpider):
    def visit(self, response):
        if is_hit(response.url):
            raise ValueError("boom")
        return super().visit(response)


class VisitHangs(SourceSpider):
    async def visit(self, response):
        if is_hit(response.url):
            await never()
        for one in super().visit(response):
            yield one
'''

DOWNLOADER, SPIDER, ITEMS = "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES"


@dataclass(frozen=True, slots=True)
class Fault:
    """A class of the module, where it is put, and how the visit ends on which it fails.

    `told`: whether a line of the report names the URL. Without an outcome any single one will do.
    """

    where: str
    name: str
    at: int = 50
    act: str = "raise"
    outcome: str = "FAILED"
    told: bool = False
    closes: bool = False

    def options(self) -> dict[str, Any]:
        """Return the options of a source in which it happens."""
        path = f"faults.{self.name}"
        if self.where == "class":
            return {"class": path}
        if self.where == "handler":
            return {"settings": {"DOWNLOAD_HANDLERS": {"http": path}}}
        return {"settings": {self.where: {path: self.at}}}

    def install(self, folder: Path) -> None:
        """Write the module."""
        act = f"\n\n{self.name}.act = {self.act!r}\n" if self.act != "raise" else ""
        (folder / "faults.py").write_text(CODE + act)


FAULTS: dict[str, Fault] = {
    "a downloader middleware raises": Fault(DOWNLOADER, "BeforeDownload"),
    "a downloader middleware raises no Exception": Fault(DOWNLOADER, "BeforeDownload", act="odd"),
    "a downloader middleware cancels": Fault(DOWNLOADER, "BeforeDownload", act="cancelled"),
    "a downloader middleware ignores the request": Fault(
        DOWNLOADER, "BeforeDownload", act="ignore", outcome="NOT_INDEXED"
    ),
    "a downloader middleware never returns": Fault(DOWNLOADER, "HangsBeforeDownload", told=True),
    "a downloader middleware cannot be cancelled": Fault(DOWNLOADER, "StubbornBeforeDownload", told=True),
    "a downloader middleware asks for another page": Fault(DOWNLOADER, "AsksForAnother", told=True),
    "a downloader middleware asks for the page again": Fault(DOWNLOADER, "AsksForTheSame", outcome="NEW"),
    "a downloader middleware answers itself": Fault(DOWNLOADER, "AnswersItself", outcome=""),
    "a downloader middleware loses the answer": Fault(DOWNLOADER, "LosesAnswer"),
    "a downloader middleware changes the answer": Fault(DOWNLOADER, "ChangesAnswer", told=True),
    "a downloader middleware changes the answer early": Fault(DOWNLOADER, "ChangesAnswer", at=900, told=True),
    "a downloader middleware takes the callback": Fault(DOWNLOADER, "TakesCallback", told=True),
    "a spider middleware swallows everything": Fault(SPIDER, "Swallows", told=True),
    "a spider middleware raises": Fault(SPIDER, "OutputRaises"),
    "a spider middleware refuses the answer": Fault(SPIDER, "InputRaises"),
    "a spider middleware never returns": Fault(SPIDER, "OutputHangs", told=True),
    "a spider middleware raises no Exception": Fault(SPIDER, "OutputOdd", told=True),
    "a pipeline raises": Fault(ITEMS, "Pipeline"),
    "a pipeline drops": Fault(ITEMS, "Pipeline", act="drop", outcome="NOT_INDEXED"),
    "a pipeline drops under another name": Fault(ITEMS, "PipelineDropsAnother", outcome="NOT_INDEXED"),
    "a pipeline raises no Exception": Fault(ITEMS, "Pipeline", act="odd"),
    "a pipeline cancels": Fault(ITEMS, "Pipeline", act="cancelled"),
    "a pipeline exits": Fault(ITEMS, "Pipeline", act="system exit"),
    "a pipeline never returns": Fault(ITEMS, "PipelineHangs", told=True),
    "a pipeline behind ours never returns": Fault(ITEMS, "PipelineHangs", at=1000, outcome="NEW", told=True),
    "a pipeline loses the document": Fault(ITEMS, "PipelineLoses", told=True),
    "a pipeline never closes": Fault(ITEMS, "CloseHangs", outcome="NEW", told=True),
    "a handler never returns": Fault("handler", "HandlerHangs", told=True),
    "a handler raises no Exception": Fault("handler", "HandlerOdd"),
    "links raise": Fault("class", "Links"),
    "links raise no Exception": Fault("class", "Links", act="odd"),
    "links raise GeneratorExit": Fault("class", "Links", act="generator exit"),
    "links exit": Fault("class", "Links", act="system exit"),
    "links close the spider": Fault("class", "Links", act="close", closes=True),
    "documents raise": Fault("class", "Documents"),
    "documents raise no Exception": Fault("class", "Documents", act="odd"),
    "documents are none": Fault("class", "NoDocuments"),
    "visit gives nothing": Fault("class", "NoVisit", told=True),
    "visit raises": Fault("class", "VisitRaises"),
    "visit never returns": Fault("class", "VisitHangs", told=True),
}
