"""A mistake in one source stops no other, nor a verb that only looks at what is there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import LOOPBACK, Workspace

MISTAKES: dict[str, dict[str, Any]] = {
    "an unknown option": {"dpeth": 3},
    "a rule file that is not there": {"boundary": {**LOOPBACK, "uris": {"exclude": [{"file": "none.txt"}]}}},
    "a delay that is none": {"politeness": {"variable_delay": "whenever"}},
    "a start URL that is none": {"start_urls": ["nowhere"]},
    "a class that is not there": {"class": "nowhere.Class"},
    "a setting that Scrapy cannot use": {"settings": {"DOWNLOADER_MIDDLEWARES": {"nowhere.Class": 1}}},
}
"""Options of a source that cannot be crawled with them."""


def options(url: str) -> dict[str, Any]:
    return {
        "start_urls": [f"{url}/"],
        "groups": ["all"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "refresh": {"interval": "1 h"},
    }


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    site = NetworkSite()
    site.page("/", title="Home", text="needle")
    with site.serve() as address:
        yield address


@pytest.fixture(scope="module")
def crawled_once(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two sources whose index has a document of each."""
    workspace = InProcessWorkspace(tmp_path_factory.mktemp("crawled"))
    workspace.write({"sources": {"a": options(url), "b": options(url)}})
    workspace.crawl()
    return workspace.directory


@pytest.fixture
def crawled(crawled_once: Path, tmp_path: Path) -> Workspace:
    """A copy of that project."""
    return InProcessWorkspace(Path(shutil.copytree(crawled_once, tmp_path / "copy")))


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_others_are_crawled(mistake: dict[str, Any], crawled: Workspace, url: str) -> None:
    crawled.write({"sources": {"b": {**options(url), **mistake}, "a": options(url)}})
    ended = crawled.command("crawl")
    told = [line for line in ended.err.splitlines() if line.strip()]
    assert (ended.code, len(told)) == (1, 1), ended.err
    assert told[0].startswith("b: not crawled: ")
    assert "a: run 2" in ended.out


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_alone_it_is_the_users_mistake(mistake: dict[str, Any], crawled: Workspace, url: str) -> None:
    crawled.write({"sources": {"a": options(url), "b": {**options(url), **mistake}}})
    ended = crawled.command("crawl", "b")
    told = [line for line in ended.err.splitlines() if line.strip()]
    assert (ended.code, len(told), "Traceback" in ended.err) == (2, 1, False), ended.err
    assert crawled.command("crawl", "a").code == 0


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_verbs_that_look_go_on(mistake: dict[str, Any], crawled: Workspace, url: str) -> None:
    crawled.write({"sources": {"a": options(url), "b": {**options(url), **mistake}}})
    assert crawled.search("needle", "--source", "b") == ["/"]
    assert len(crawled.search("needle", "--group", "all")) in (1, 2)  # of one URL in two sources
    assert len(crawled.command("urls", "--json").lines) == 2
    assert crawled.command("index", "check").code == 0
    rows = {row["source"]: row for row in crawled.command("status", "--json").json["sources"]}
    assert [rows[name]["indexed"] for name in "ab"] == [1, 1]


def test_a_file_of_sources_that_cannot_be_read(crawled: Workspace, url: str) -> None:
    folder = crawled.directory / "sources"
    folder.mkdir()
    (folder / "c.yaml").write_text("start_urls: [\n")
    (folder / "d.yaml").write_bytes(b"start_urls: \xff")
    ended = crawled.command("crawl", "--json")
    runs = {run["source"]: run for run in ended.json["runs"]}
    assert ended.code == 1
    assert {name: bool(run["run_id"]) for name, run in runs.items()} == {
        "a": True,
        "b": True,
        "c": False,
        "d": False,
    }
    assert crawled.search("needle", "--source", "a") == ["/"]


def test_a_mistake_in_what_all_share_stops_the_crawl_only(crawled: Workspace, url: str) -> None:
    crawled.write({"defaults": {"dpeth": 3}, "sources": {"a": options(url), "b": options(url)}})
    assert crawled.command("crawl").code == 2
    assert crawled.search("needle", "--source", "a") == ["/"]


def test_lint_tells_all_at_once(crawled: Workspace, url: str) -> None:
    wrong = {name: {**options(url), **MISTAKES["an unknown option"]} for name in "ab"}
    crawled.write({"sources": {**wrong, "c": {**options(url), "depth": "deep"}}})
    ended = crawled.command("lint", "--json")
    assert (ended.code, [line["key"] for line in ended.lines]) == (
        2,
        ["sources.a.dpeth", "sources.b.dpeth", "sources.c.depth"],
    )


def test_a_rule_file_with_mistakes_is_of_every_source_that_names_it(crawled: Workspace, url: str) -> None:
    (crawled.directory / "rules.txt").write_text("nonsense\n")
    bad = {**options(url), "boundary": {**LOOPBACK, "uris": {"exclude": [{"file": "rules.txt"}]}}}
    crawled.write({"sources": {"a": options(url), "b": bad, "c": bad}})
    ended = crawled.command("crawl", "--json")
    assert {run["source"]: bool(run["run_id"]) for run in ended.json["runs"]} == {
        "a": True,
        "b": False,
        "c": False,
    }


def test_verbs_over_all_sources_leave_it_out_and_say_so(crawled: Workspace, url: str) -> None:
    crawled.write({"sources": {"a": options(url), "b": {**options(url), **MISTAKES["an unknown option"]}}})
    ended = crawled.command("plan", "--json")
    assert [one["source"] for one in ended.json["sources"]] == ["a"]
    assert ended.err.startswith("b: left out: ultracrawl.yaml:")
    assert crawled.command("plan", "b").code == 2


def test_a_broken_file_of_another_format_stops_no_search(crawled: Workspace) -> None:
    (crawled.directory / "broken.xml").write_text('<?xml version="1.0"?><CrawlerConfig><DomainSpec')
    (crawled.directory / "robot.conf").write_text("<Process csid=\n")
    for name in ("broken.xml", "robot.conf"):
        ended = crawled.command("search", "needle", "-c", name)
        assert (ended.code, "Traceback" in ended.err) == (0, False), (name, ended.err)
        assert crawled.command("crawl", "-c", name).code == 2
