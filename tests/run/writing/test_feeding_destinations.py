"""A source feeds a file and a web server: what the crawl says, and what search does without an index."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.named import named
from support.project import LOOPBACK, Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request, Server
from support.site import Site

from ultracrawl.index.writing.project_outputs import destination_config
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

pytestmark = pytest.mark.processes


class Portal:
    """A web server that holds what it was sent, while it is `open`; else it answers 403."""

    def __init__(self) -> None:
        self.is_open = True
        self.held: dict[str, str] = {}

    def answer(self, request: Request) -> Reply:
        if not self.is_open or request.header("X-Key") != "geheim":
            return Reply(403)
        follow(self.held, request.body)
        return Reply(200)


def follow(held: dict[str, str], lines: bytes) -> dict[str, str]:
    """Do what lines of JSON say; the first word of each text by path."""
    for row in map(json.loads, lines.splitlines()):
        path = "/" + row["url"].split("/", 3)[3]
        if row["action"] == "put":
            held[path] = row["text"].split()[0]
        elif row["action"] == "delete":
            held.pop(path, None)
    return held


@pytest.fixture
def portal() -> Iterator[Portal]:
    receiver = Portal()
    server = Server(receiver.answer)
    server.start()
    receiver.url = f"{server.url}/in"  # type: ignore[attr-defined]
    yield receiver
    server.stop()


@pytest.fixture
def fed(site: Site, url: str, workspace: Workspace, portal: Any) -> Workspace:
    """Return a project whose source feeds a file, which is primary, and the portal; no index at all."""
    site.page("/", title="Home", links=["/a", "/b"], text="beginning")
    site.page("/a", title="A", text="first")
    site.page("/b", title="B", text="second")
    define(workspace, url, portal.url, {"file": {"destination": "export"}, "hook": {"destination": "portal"}})
    return workspace


def define(workspace: Workspace, url: str, portal: str, fed: dict[str, Any]) -> None:
    hook = {"type": "http", "url": portal, "headers": {"X-Key": "${PORTAL_KEY}"}, "networks": ["127.0.0.0/8"]}
    source = {
        "start_urls": [f"{url}/"], "politeness": {"delay": 0}, "boundary": LOOPBACK, "sitemaps": {"use": False},
        "feeding": {"destinations": fed},
    }  # fmt: skip
    destinations = {"export": {"type": "jsonl", "path": "var/out/export.jsonl"}, "portal": hook}
    workspace.write({"destinations": destinations, "sources": {"site": source}})


def crawl(workspace: Workspace) -> Any:
    return workspace.command("crawl", "--json", PORTAL_KEY="geheim")


def test_a_file_and_a_web_server_are_fed_without_any_index(
    fed: Workspace, site: Site, portal: Portal
) -> None:
    export = fed.directory / "var" / "out" / "export.jsonl"
    first = crawl(fed)
    assert (first.code, first.run["indexed"], first.run["problems"]) == (0, 3, [])
    before = {"/": "beginning", "/a": "first", "/b": "second"}
    assert follow({}, export.read_bytes()) == portal.held == before
    site.page("/", title="Home", links=["/a", "/c"], text="beginning")
    site.page("/a", title="A", text="changed")
    site.remove("/b")
    site.page("/c", title="C", text="third")
    second = crawl(fed)
    assert (second.code, second.run["indexed"], second.run["deleted"]) == (0, 3, 1)
    after = {"/": "beginning", "/a": "changed", "/c": "third"}
    assert follow({}, export.read_bytes()) == portal.held == after
    assert crawl(fed).run["indexed"] == 0
    assert not (fed.directory / "var" / "index").exists()
    assert export.stat().st_mode & 0o077 == 0, "it is for its owner alone"

    for words in (
        ["search", "third"],
        ["search", "third", "--index", "export"],
        ["index", "info", "--index", "portal"],
    ):
        ended = fed.command(*words)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1), words
        assert "search" in ended.err


def test_a_web_server_that_refuses_holds_up_nobody_else_and_catches_up(
    fed: Workspace, portal: Portal
) -> None:
    portal.is_open = False
    ended = crawl(fed)
    assert (ended.code, ended.run["problems"]) == (0, [])
    (remark,) = ended.run["remarks"]
    assert "403" in named(remark)
    assert portal.held == {}
    status = {
        row["destination"]: row for row in fed.command("feeding", "status", "--json").json["destinations"]
    }
    assert status["file"]["segments"] == 0
    assert status["hook"]["segments"] == 1
    assert status["hook"]["problem"] == "the destination portal (127.0.0.1): answered 403"
    assert "geheim" not in "".join(path.read_text() for path in (fed.directory / "var").rglob("*.txt"))
    portal.is_open = True
    crawl(fed)
    assert portal.held == {"/": "beginning", "/a": "first", "/b": "second"}


def test_a_primary_one_that_refuses_is_a_problem_of_the_run_and_loses_nothing(
    fed: Workspace, url: str, portal: Any
) -> None:
    define(fed, url, portal.url, {"hook": {"destination": "portal"}, "index": {"index": "default"}})
    portal.is_open = False
    ended = crawl(fed)
    assert (ended.code, ended.run["indexed"]) == (1, 0)
    (problem,) = ended.run["problems"]
    assert "portal (127.0.0.1)" in problem
    assert "403" in named(problem)
    assert fed.search("first") == ["/a"], "the index that is fed too is searched"
    portal.is_open = True
    ended = crawl(fed)
    assert (ended.code, ended.run["indexed"]) == (0, 3)
    assert portal.held == {"/": "beginning", "/a": "first", "/b": "second"}


def test_a_secret_that_is_not_there_keeps_the_crawl_from_beginning(fed: Workspace, site: Site) -> None:
    ended = fed.command("crawl")
    assert (ended.code, site.paths()) == (2, [])
    assert ended.err.splitlines()[-1].endswith(sentence("destinations.variable_not_set"))


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("{type: jsonl}", "`path` is missing"),
        ("{type: http, path: x}", "`url` is missing"),
        ("{type: jsonl, path: x, url: 'https://a.example/'}", "`url` has no effect"),
        ("{type: http, url: 'ftp://a.example/'}", sentence("feeding.not_url_web_server")),
        ("{type: solr}", "`url` is missing"),
        ("{type: http, url: 'https://a.example/', collection: x}", "`collection` has no effect"),
        ("{type: typesense, url: 'https://a.example/', collection: 'a b'}", "`a b`"),
        ("{type: http, url: 'https://u:geheim@a.example/'}", sentence("feeding.not_url_web_server")),
        ("{type: ftp, url: 'https://a.example/'}", "type"),
    ],
)
def test_mistakes_in_a_destination_name_their_line(tmp_path: Path, section: str, told: str) -> None:
    workspace = Workspace(tmp_path)
    text = f"destinations:\n  x: {section}\nsources: {{a: {{start_urls: ['https://a.example/']}}}}\n"
    (tmp_path / "ultracrawl.yaml").write_text(text)
    ended = workspace.command("lint")
    assert ended.code == 2
    assert ended.out.startswith("ultracrawl.yaml:2 - destinations.x")
    assert told in ended.out
    assert "geheim" not in ended.out


def test_secrets_in_clear_are_reported_and_files_are_found_beside_the_definition(tmp_path: Path) -> None:
    (tmp_path / "ultracrawl.yaml").write_text(
        "destinations:\n"
        "  x:\n"
        "    type: http\n"
        "    url: https://a.example/\n"
        "    user: crawler\n"
        "    password: file:pw\n"
        "    headers: {X-Tenant: seven, Authorization: geheim}\n"
        "sources: {a: {start_urls: ['https://a.example/']}}\n"
    )
    loaded = read_definitions(tmp_path / "ultracrawl.yaml")
    (finding,) = loaded.findings
    assert (finding.line, finding.key) == (7, "destinations.x.headers.Authorization")
    assert "geheim" not in f"{finding} {loaded.project!r}"
    (tmp_path / "pw").write_text("pass word\n")
    options = destination_config(require(loaded), "x").options
    assert (options["password"], options["headers"]) == (
        "pass word",
        {"X-Tenant": "seven", "Authorization": "geheim"},
    )


def test_a_destination_that_is_new_to_a_source_gets_everything(
    fed: Workspace, url: str, portal: Any, site: Site
) -> None:
    define(fed, url, portal.url, {"index": {"index": "default"}})
    crawl(fed)
    define(fed, url, portal.url, {"index": {"index": "default"}, "hook": {"destination": "portal"}})
    crawl(fed)
    assert portal.held == {"/": "beginning", "/a": "first", "/b": "second"}
    portal.held.clear()
    site.reset()
    crawl(fed)
    assert portal.held == {}, "it has everything, and nothing changed"


def test_a_mistake_in_a_destination_makes_neither_it_nor_its_neighbours_unknown(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    (tmp_path / "ultracrawl.yaml").write_text(
        "destinations: {engine: {type: opensaerch, url: 'https://a.example/'}, file: {type: jsonl, path: x}}\n"
        "sources:\n"
        "  a:\n"
        "    start_urls: ['https://a.example/']\n"
        "    feeding: {destinations: {x: {destination: engine}, y: {destination: file}}}\n"
    )
    found = workspace.command("lint", "--json").lines
    assert [one["key"] for one in found] == ["destinations.engine.type"]


def test_names_of_destinations_are_checked(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    (tmp_path / "ultracrawl.yaml").write_text(
        "indexes: {two: var/two}\n"
        "destinations: {two: {type: jsonl, path: x}}\n"
        "sources:\n"
        "  a:\n"
        "    start_urls: ['https://a.example/']\n"
        "    feeding: {destinations: {x: {destination: exprot}, y: {index: two, destination: two}}}\n"
    )
    out = workspace.command("lint").out
    assert "destinations" in out
    assert {"two", "index", "destination"} <= set(named(out))
