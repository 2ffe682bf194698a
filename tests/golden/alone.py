"""Plays one component in a plain Scrapy project, without a definition, and returns its trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from pprint import pformat
from typing import Any

from scrapy_ways.runs import Desk, environment
from support.hosted import HostedCommand
from support.project import Ended, kill_group
from support.until import until

from golden.normal import Names
from golden.stage import Stage, stage

SPIDER = """
import json
import scrapy

class PlainSpider(scrapy.Spider):
    name = "plain"

    def __init__(self, url, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [url + "/", url + "/private/start"]

    def parse(self, response):
        text = " ".join(response.css("p::text").getall())
        values = {"title": response.css("title::text").get(), "author": "Ann", "price": len(text)}
        values["flags"] = list(response.flags)
        yield {"url": response.url, "text": text, **values}
        yield from response.follow_all(css="a", callback=self.parse)

    def closed(self, reason):
        with open("stats.json", "w") as stream:
            json.dump({"reason": reason, **self.crawler.stats.get_stats()}, stream, default=str)
"""
COMMON = {
    "SPIDER_MODULES": ["theirs.spiders"],
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS": 1,
    "LOG_LEVEL": "WARNING",
    "ULTRACRAWL_DATA": "data",
}
MIDDLEWARES = "DOWNLOADER_MIDDLEWARES", "ultracrawl.middlewares."
PIPELINES = "ITEM_PIPELINES", "ultracrawl.pipelines."
COMPONENTS: dict[str, tuple[tuple[str, str], int, dict[str, Any]]] = {
    "RewriterMiddleware": (
        MIDDLEWARES,
        40,
        {
            "ULTRACRAWL_REWRITE_RULES": [
                {"url_query_cleaner": {"parameterlist": ["sid"], "remove": True}},
                r"@/old/([a-z]+)$@/new/\1@",
            ]
        },
    ),
    "RobotsMiddleware": (MIDDLEWARES, 100, {"USER_AGENT": "golden"}),
    "RedirectBoundaryMiddleware": (
        MIDDLEWARES,
        605,
        {
            "ULTRACRAWL_BOUNDARY": {
                "domains": {"include": ["127.0.0.1"]},
                "uris": {"exclude": [{"suffix": "/excluded"}]},
            }
        },
    ),
    "ConditionalMiddleware": (MIDDLEWARES, 705, {}),
    "ChecksumPipeline": (PIPELINES, 100, {}),
    "AttributePipeline": (
        PIPELINES,
        200,
        {"ULTRACRAWL_ATTRIBUTES": {"author": "Author", "price": {"name": "Price", "type": "number"}}},
    ),
    "IndexPipeline": (PIPELINES, 900, {}),
}
"""Each component: the setting that names it, its number there, and further settings."""
COUNTED = (
    "ultracrawl/",
    "robotstxt/",
    "item_",
    "reason",
    "downloader/response_status",
    "downloader/exception",
)
"""How the names of the statistics begin that belong to the trace."""


def alone(names: list[str], directory: Path) -> dict[str, Any]:
    """Crawl, change the site, and crawl again, with these components; then the same with a kill in the first crawl."""
    trace: dict[str, Any] = {}
    for kind, kill_at in (("undisturbed", 0), ("killed", 6)):
        (directory / kind).mkdir()
        with stage(directory / kind, "") as on:
            change = _build(on)
            desk = _project(on.directory, names)
            if kill_at:
                _kill(on, kill_at)
            runs = [_run(on, desk, names)]
            if not kill_at:
                change()
                runs.append(_run(on, desk, names))
        trace[kind] = runs
    return trace


def _build(on: Stage) -> Callable[[], None]:
    site = on.site
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.write("/", "Home", "home", ["/page?sid=1", "/page?sid=2", "/old/words", "/301", "/302", "/gone"])
    links = ["/private/page", "/deep", "/301-excluded", "/301-inside"]
    for path in ("/page", "/page?sid=1", "/page?sid=2"):
        site.write(path, "Page", "a page", links, modified=True)
    site.write("/deep", "Deep", "a deep page", headers={"Vary": "Accept-Encoding"}, etag=True)
    for path in ("/new/words", "/old/words", "/by-301", "/by-302", "/inside", "/excluded", "/private/start"):
        site.write(path, path, f"text of {path}")
    site.redirect("/301", f"{on.second}/by-301")
    site.redirect("/302", f"{on.second}/by-302", status=302)
    site.redirect("/301-excluded", "/excluded")
    site.redirect("/301-inside", "/inside")

    def change() -> None:
        site.write("/deep", "Deep", "changed", ["/later"], headers={"Vary": "Accept-Encoding"}, etag=True)
        site.write("/later", "Later", "came later")
        site.remove("/inside")

    return change


def _project(directory: Path, names: list[str]) -> Desk:
    settings: dict[str, Any] = dict(COMMON)
    for name in names:
        (setting, package), number, more = COMPONENTS[name]
        settings |= {setting: {**settings.get(setting, {}), package + name: number}, **more}
    desk = Desk(directory)
    desk.scrapy_cfg("theirs.settings")
    desk.write("theirs/__init__.py", "")
    desk.write("theirs/spiders/__init__.py", "")
    desk.write("theirs/spiders/plain.py", SPIDER)
    desk.write(
        "theirs/settings.py", "".join(f"{one} = {pformat(value)}\n" for one, value in settings.items())
    )
    return desk


def _words(on: Stage) -> tuple[str, ...]:
    return "crawl", "plain", "-a", f"url={on.url}", "-O", "seen.jsonl"


def _kill(on: Stage, request: int) -> None:
    """Crawl until this request came, and kill."""
    on.site.stop_at(request)
    variables = environment(on.directory / ".home")
    process = HostedCommand(_words(on), on.directory, variables, "scrapy")
    until(on.site.reached.is_set, process)
    kill_group(process)
    on.site.go_on()


def _run(on: Stage, desk: Desk, components: list[str]) -> dict[str, Any]:
    on.site.reset()
    ended = desk.scrapy(*_words(on))
    names = Names(on)
    requests = sorted(on.site.requests, key=lambda one: one.headers.get("host", ""))
    stats = json.loads((on.directory / "stats.json").read_text())
    return {
        "code": ended.code,
        "said": names.said(ended.err),
        "requests": [names.request(one) for one in requests],
        "items": [_item(names, json.loads(line)) for line in _lines(on.directory / "seen.jsonl")],
        "counted": {name: stats[name] for name in sorted(stats) if name.startswith(COUNTED)},
        "index": _dump(names, desk.ultracrawl("index", "dump")) if "IndexPipeline" in components else [],
    }


def _item(names: Names, item: dict[str, Any]) -> Any:
    """Return an item; its checksum is made of its URL, too, which has a port."""
    return names.value(item | ({"checksum": "CHECKSUM"} if "checksum" in item else {}))


def _dump(names: Names, ended: Ended) -> list[Any]:
    assert ended.code == 0, ended.err
    documents = [names.document(one) for one in ended.lines]
    return sorted(documents, key=lambda one: str(one["url"]))


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines()
