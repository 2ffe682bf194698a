"""Each order reaches a crawl on every way to run it, with its definition broken meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy_ways.scrapyd_server import CONFIGURATION, Scrapyd
from support.fast import fast_xml
from support.free_port import free_port
from support.project import LOOPBACK, ROOT, Workspace, kill_group
from support.robot import RobotFiles
from support.site import Site
from support.until import stays, until

from ultracrawl.stores.file_notes import notes_beside
from ultracrawl.stores.site_orders import SITE_ORDERS, SiteAction

pytestmark = pytest.mark.servers  # processes that are steered

PAGES = 900
IN_YAML = {
    "politeness": {"delay": 0.1, "concurrency": 1},
    "boundary": LOOPBACK,
    "sitemaps": {"use": False},
    "crawling_mode": "examine",
}


class Way(NamedTuple):
    """A way to run the source `one`."""

    define: Callable[[Workspace, str], Path]
    """Writes the definition; returns the file that is broken later."""
    words: tuple[str, ...]
    program: tuple[str, ...] = ("ultracrawl",)
    stays: bool = False
    """Whether its process stays when the crawl is stopped."""
    source: str = "one"
    config: tuple[str, ...] = ()
    begin: Callable[[Workspace], None] = lambda _: None
    """Begins the crawl when its process has been started."""
    examines: bool = True
    """Whether its documents wait for approval."""
    resumes: bool = False
    """Whether its process crawls a source that was stopped again when it is resumed."""


def in_yaml(*others: str, **head: Any) -> Callable[[Workspace, str], Path]:
    def define(workspace: Workspace, url: str) -> Path:
        sources = {
            name: {
                "start_urls": [f"{url}/{name}"],
                **IN_YAML,
                **({} if head else {"refresh": {"when_idle": True}}),
            }
            for name in ("one", *others)
        }
        workspace.write({"sources": sources, **head})
        (workspace.directory / "scrapy.cfg").write_text("[settings]\ndefault = ultracrawl.settings\n")
        return workspace.directory / "ultracrawl.yaml"

    return define


def in_robot_conf(workspace: Workspace, url: str) -> Path:
    robot = RobotFiles(workspace)
    robot.site(f"{url}/one")
    robot.properties(onCompletion="idle", server_delay=0.1, max_concurrent=1)
    return robot.config / "robot.conf"


def in_schedule_conf(workspace: Workspace, url: str) -> Path:
    file = in_robot_conf(workspace, url)
    file.with_name("schedule.conf").write_text('Start time="12:00 am" days=Sun\n')
    return file


def on_scrapyd(workspace: Workspace, url: str) -> Path:
    file = in_yaml()(workspace, url)
    text = CONFIGURATION.format(port=free_port(), folder=workspace.directory / "scrapyd")
    (workspace.directory / "scrapyd.conf").write_text(text)
    return file


def schedule_job(workspace: Workspace) -> None:
    """Have the Scrapyd of a workspace crawl the source, as soon as it answers."""
    configuration = ConfigParser()
    configuration.read(workspace.directory / "scrapyd.conf")
    server = Scrapyd(f"http://127.0.0.1:{configuration['scrapyd']['http_port']}", workspace.directory)

    def answers() -> bool:
        with suppress(OSError):
            return bool(server.get("daemonstatus"))
        return False

    until(answers)
    assert server.post("schedule", [("project", "default"), ("spider", "one")])["status"] == "ok"


def in_xml(workspace: Workspace, url: str) -> Path:
    (workspace.directory / "networks.txt").write_text("127.0.0.0/8\n")
    file = workspace.directory / "collections.xml"
    file.write_text(fast_xml({"start_uris": (f"{url}/one",), "delay": 0.1}, name="one"))
    return file


BROKEN = {
    ".yaml": "sources: {one: [\n",
    ".conf": "<Process csid=",
    ".xml": "<CrawlerConfig><DomainSpecification",
}
NIGHTLY = {"schedules": {"nightly": {"sources": ["one"], "every": 60}}}
BOTH = {"schedules": {"nightly": {"sources": ["one", "two"], "every": 60}}}
ROBOT_CONF = ("-c", "config/robot.conf")
COLLECTIONS = ("-c", "collections.xml")
PYTHON_API = ("-c", "import ultracrawl; ultracrawl.crawl()")
WAYS = {
    "crawl": Way(in_yaml(), ("crawl",)),
    "crawl of two at a time": Way(in_yaml("two"), ("crawl", "--jobs", "2"), stays=True),
    "crawl of two in turn": Way(in_yaml("two"), ("crawl", "--jobs", "1"), stays=True),
    "continuously": Way(in_yaml(), ("crawl", "--continuous")),
    "two continuously": Way(in_yaml("two"), ("crawl", "--continuous", "--jobs", "2"), stays=True, resumes=True),
    "launched schedule": Way(in_yaml(**NIGHTLY), ("schedule", "launch", "nightly")),
    "launched schedule of two": Way(in_yaml("two", **BOTH), ("schedule", "launch", "nightly"), stays=True),
    "serve": Way(in_yaml(), ("serve", "--port", "0"), stays=True, resumes=True),
    "scrapy crawl": Way(in_yaml(), ("crawl", "one"), ("scrapy",)),
    "Scrapyd": Way(on_scrapyd, ("--pidfile=",), ("scrapyd",), stays=True, begin=schedule_job),
    "Python": Way(in_yaml(), (), PYTHON_API),
    "Python with two": Way(in_yaml("two"), (), PYTHON_API, stays=True),
    "robot": Way(
        in_robot_conf, ("robot", "start", *ROBOT_CONF), source="robot", config=ROBOT_CONF, examines=False
    ),
    "robot in a service": Way(
        in_robot_conf, ("serve", "--port", "0", *ROBOT_CONF), stays=True, source="robot", config=ROBOT_CONF,
        examines=False, resumes=True
    ),
    "schedule of a robot": Way(
        in_schedule_conf, ("schedule", "launch", "robot", *ROBOT_CONF), source="robot", config=ROBOT_CONF,
        examines=False
    ),
    "collection": Way(
        in_xml, ("admin", "refresh", "one", *COLLECTIONS), config=COLLECTIONS, examines=False
    ),
}  # fmt: skip


class Steered:
    """A crawl that runs, and the orders that are given to it."""

    def __init__(self, way: Way, workspace: Workspace, process: subprocess.Popen[bytes]) -> None:
        self.way = way
        self.workspace = workspace
        self.process = process

    def order(self, verb: str) -> str:
        """Give an order, which must be obeyed; returns the state of the crawl then."""
        ended = self.workspace.command(verb, self.way.source, "--json", *self.way.config)
        assert ended.code == 0, ended.err + ended.out
        (result,) = ended.json["sources"]
        assert (result["command"], result["obeyed"]) == (verb, True)
        return str(result["state"])

    def feed(self, verb: str) -> None:
        """Pause or resume feeding, and wait until the crawl has related the order to the definition that it has."""
        ended = self.workspace.command("feeding", verb, self.way.source, "--json", *self.way.config)
        assert ended.code == 0, ended.err + ended.out
        (orders,) = self.workspace.directory.rglob(f"{self.way.source}/feeding.json")
        until(lambda: json.loads(orders.read_text())[""] == {"paused": verb == "pause", "defined": False})

    def decide(self) -> None:
        """Ask for what the guards hold back, and decide: nothing is."""
        for verb in ("approve-deletions", "approve-changes"):
            ended = self.workspace.command(verb, self.way.source, "--json", *self.way.config)
            assert ended.code == 0, ended.err
            assert ended.json["documents"] == []

    def approve(self, url: str) -> None:
        """Approve a document that waits, and wait until it does no more."""
        waits = ("approve", self.way.source, url, "--list", *self.way.config)
        until(lambda: self.workspace.command(*waits).out.strip() == url)
        ended = self.workspace.command("approve", self.way.source, url, "--json", *self.way.config)
        assert (ended.code, ended.json) == (0, {"source": self.way.source, "kept": True})
        until(lambda: not self.workspace.command(*waits).out.strip())

    def fetch_again(self, url: str) -> None:
        """Have a known URL fetched again, and wait until the crawl has taken the order."""
        ended = self.workspace.command(
            "submit", url, "--source", self.way.source, "--again", *self.way.config
        )
        assert ended.code == 0, ended.err
        (state,) = self.workspace.directory.rglob(f"{self.way.source}.sqlite")
        until(lambda: SiteAction.ADD.value not in str(notes_beside(state).read(SITE_ORDERS)))

    def status(self) -> dict[str, Any]:
        rows = self.workspace.command("status", "--json", *self.way.config).json["sources"]
        (row,) = (row for row in rows if row["source"] == self.way.source)
        assert isinstance(row, dict)
        return row


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def steered(request: pytest.FixtureRequest, workspace: Workspace, site: Site, url: str) -> Iterator[Steered]:
    for name in ("one", "two"):
        site.page(f"/{name}", title="Home", links=[f"/{name}/{number}" for number in range(PAGES)], text="x")
        for number in range(PAGES):
            site.page(f"/{name}/{number}", title=f"Page {number}", text="words")
    way: Way = request.param
    broken = way.define(workspace, url)
    module = () if way.program[0] == "-c" else ("-m",)
    process = subprocess.Popen(
        [sys.executable, *module, *way.program, *way.words],
        cwd=workspace.directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        way.begin(workspace)
        until(lambda: sum(path.startswith("/one/") for path in site.paths()) >= 3, process)  # type: ignore[arg-type]
        broken.write_text(BROKEN[broken.suffix])
        yield Steered(way, workspace, process)
    finally:
        kill_group(process)  # type: ignore[arg-type]


def test_a_crawl_obeys_orders_while_its_definition_is_broken(steered: Steered, site: Site, url: str) -> None:
    assert steered.status()["state"] == "running"
    steered.feed("pause")
    steered.feed("resume")
    steered.decide()
    if steered.way.examines:
        steered.approve(f"{url}/one")
    steered.fetch_again(f"{url}/one")
    assert steered.order("pause") == "paused"
    assert steered.status()["state"] == "paused"
    before = sum(path.startswith("/one/") for path in site.paths())
    stays(lambda: sum(path.startswith("/one/") for path in site.paths()))  # five times its delay
    assert sum(path.startswith("/one/") for path in site.paths()) == before
    assert steered.order("resume") == "running"
    until(lambda: sum(path.startswith("/one/") for path in site.paths()) > before)
    if steered.way.config == ROBOT_CONF:  # the verbs of robots are the same orders
        for verb, state in (("pause", "Paused"), ("resume", "Running")):
            ended = steered.workspace.command("robot", verb, *ROBOT_CONF)
            assert (ended.code, ended.out) == (0, f"robot: {state}\n")
    assert steered.order("stop") == "idle"
    assert steered.status()["state"] == "unfinished"
    if steered.way.resumes:
        before = len(site.paths())
        steered.order("resume")
        until(lambda: len(site.paths()) > before, steered.process)  # type: ignore[arg-type]
    elif steered.way.stays:
        assert steered.process.poll() is None
    else:
        steered.process.communicate(timeout=100)
