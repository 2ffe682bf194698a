"""Search engines that are fed by crawls which are killed, between batches and in them, end like our index."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote, urlsplit

import psutil
import pytest
from support.project import LOOPBACK, Workspace
from support.resource import Reply
from support.search_engines import ENGINES, Engine, OpenSearch, reply
from support.server import Request, answering
from support.site import Site

pytestmark = pytest.mark.processes

RUNS = 10
PAGES = [f"/p{number}" for number in range(12)]


class Killer:
    """Kills a crawl at one of the requests that a search engine gets: before it is carried out, or after."""

    def __init__(self, engine: Engine, dice: random.Random) -> None:
        self._engine, self._dice = engine, dice
        self.kills = 0
        self.at: int | None = None
        self.process: subprocess.Popen[str] | None = None
        engine.interfere = self.answer

    def answer(self, request: Request) -> Reply | None:
        """Kill at the request whose time has come."""
        if self.at is None or self.process is None:
            return None
        self.at -= 1
        if self.at > 0:
            return None
        self.at = None
        if self._dice.random() < 0.5:
            self._engine.handle(request, urlsplit(unquote(request.path)))
        self._kill(self.process)
        return reply(500, {})

    def _kill(self, process: subprocess.Popen[str]) -> None:
        """Kill the crawl and the processes that it started, those first: they would end cleanly else."""
        with suppress(psutil.NoSuchProcess):
            for child in reversed(psutil.Process(process.pid).children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
            self.kills += 1


@pytest.fixture(params=["meilisearch", "opensearch", "solr", "typesense"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(kind: str) -> Engine:
    return ENGINES[kind]()


@pytest.fixture
def server(engine: Engine) -> Iterator[str]:
    with answering(engine.answer) as address:
        yield address


def define(workspace: Workspace, url: str, kind: str, server: str) -> None:
    there = {"type": kind, "url": server, "networks": ["127.0.0.0/8"], "documents": 2}
    source = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "deletion": {"percent": 100},
        "feeding": {
            "destinations": {"index": {"index": "default", "primary": True}, "box": {"destination": "out"}}
        },
    }
    workspace.write({"destinations": {"out": there}, "sources": {"site": source}})


def change(site: Site, there: set[str], dice: random.Random, run: int) -> None:
    """Let some pages go, and others come or say something else."""
    for path in dice.sample(PAGES, 6):
        if dice.random() < 0.4:
            site.gone(path)
            there.discard(path)
        else:
            there.add(path)
            site.page(path, title=f"{path} of {run}", text=f"common {path} {run}")


def of_index(workspace: Workspace) -> dict[str, str]:
    """Return the titles in our index by URL."""
    hits = workspace.command("search", "common", "--limit", "1000", "--json").json["hits"]
    return {hit["url"]: hit["title"] for hit in hits}


def of_engine(engine: Engine) -> dict[str, str]:
    """Return the titles in the search engine by URL."""
    if isinstance(engine, OpenSearch):
        engine.records, engine.unseen = engine.records | engine.unseen, {}
    return {one["url"]: one["title"] for one in engine.records.values()}


def test_ten_runs_with_removals_and_kills_end_like_our_index(
    site: Site, url: str, workspace: Workspace, kind: str, engine: Engine, server: str
) -> None:
    dice, there = random.Random(kind), {"/"}
    killer = Killer(engine, dice)
    site.page("/", title="Home", links=PAGES, text="common start")
    define(workspace, url, kind, server)
    for run in range(RUNS):
        change(site, there, dice, run)
        killer.process = workspace.start("crawl", "--json")
        killer.at = dice.randint(1, 5)
        killer.process.communicate(timeout=120)
        killer.at = None
    assert killer.kills >= RUNS // 2
    for _ in range(2):  # the first one ends the run that was killed
        workspace.crawl(timeout=120)
    held = of_index(workspace)
    assert of_engine(engine) == held
    assert set(held) == {f"{url}{path}" for path in there}
