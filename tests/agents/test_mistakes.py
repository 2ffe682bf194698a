"""Mistakes that only the system tells of which a source is listed from: exit code 2, wherever the crawl runs."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from typing import Any

import pytest
import yaml
from scrapy_ways.runs import Desk
from support.agent_system import AgentSystem
from support.project import Workspace
from support.sentences import sentence

WRONG: dict[str, dict[str, Any]] = {
    "class": {"type": "agent", "class": "nowhere.Agent"},
    "script": {"type": "agent", "class": "script.Agent"},
    "parameter": {"type": "agent", "class": "tracker.Tracker"},
    "secret": {"type": "agent", "class": "guarded.Guarded", "parameters": {"password": "${NOBODY_SET_THIS}"}},
    "column": {
        "type": "table",
        "connection": "sqlite:///t.db",
        "table": "t",
        "key": ["nr"],
        "text": ["text"],
    },
}
TOLD = {
    "class": "cannot be loaded: No module named 'nowhere'; install its package, or name the folder of its file",
    "script": "agent 'script.Agent' cannot be loaded: SystemExit: 3",
    "parameter": "source 'wrong': parameters.folder: the agent needs it",
    "secret": "NOBODY_SET_THIS",
    "column": "invalid URL column name (1007): there is no column `nr`",
}
GUARDED = """
from ultracrawl.agents import AgentParameter, CrawlerAgent

class Guarded(CrawlerAgent):
    parameters = [AgentParameter("password", secret=True)]
    def fetch(self):
        return None
"""
HERON = {"display_url": "https://cms.example.com/heron", "text": "heron"}


def define(project: Workspace | Desk, **sources: dict[str, Any]) -> None:
    """Write a definition of sources beside a system that works."""
    AgentSystem(project.directory).put(HERON)
    (project.directory / "guarded.py").write_text(GUARDED)
    (project.directory / "script.py").write_text("raise SystemExit(3)")
    with closing(sqlite3.connect(project.directory / "t.db")) as base:
        base.executescript("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, text TEXT)")
    text = yaml.safe_dump({"sources": sources})
    (project.directory / "ultracrawl.yaml").write_text(text)


def good(project: Workspace | Desk) -> dict[str, Any]:
    return {"type": "agent", "class": "tracker.Tracker", "parameters": {"folder": str(project.directory)}}


@pytest.mark.parametrize(
    ("name", "found"), [("class", 2), ("script", 2), ("parameter", 2), ("secret", 0), ("column", 0)]
)
def test_lint_loads_the_class_and_asks_nobody(workspace: Workspace, name: str, found: int) -> None:
    define(workspace, wrong=WRONG[name], right=good(workspace))
    ended = workspace.command("lint")
    assert ended.code == found, ended
    assert (TOLD[name] in ended.out) == bool(found)
    assert not (workspace.directory / "calls.log").exists()
    ended = workspace.command("lint", "--connect")
    assert ended.code == 2
    assert TOLD[name] in ended.out


@pytest.mark.parametrize("name", WRONG)
def test_one_source_with_a_mistake_is_one_line_and_code_2(workspace: Workspace, name: str) -> None:
    define(workspace, wrong=WRONG[name])
    for words in (["crawl"], ["crawl", "wrong", "--json"]):
        ended = workspace.command(*words)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended
        assert ended.err.startswith("ultracrawl: ")
        assert TOLD[name] in ended.err
    (row,) = workspace.command("status", "--json").json["sources"]
    assert row["state"] == "failed"
    assert TOLD[name] in row["failure"]["problem"]
    define(workspace, wrong=good(workspace))
    assert workspace.crawl().run["outcomes"] == {"NEW": 1}
    (row,) = workspace.command("status", "--json").json["sources"]
    assert (row["state"], row["failure"]) == ("idle", None)


def test_a_mistake_in_one_of_several_is_reported_and_the_others_are_crawled(workspace: Workspace) -> None:
    define(workspace, wrong=WRONG["class"], right=good(workspace))
    ended = workspace.command("crawl")
    assert ended.code == 1
    (line,) = ended.err.splitlines()
    assert line.startswith(sentence("agents.cannot_be_loaded"))
    assert ended.out.startswith("right: run 1")


@pytest.mark.processes
def test_processes_of_crawls_say_the_same(workspace: Workspace) -> None:
    define(workspace, wrong=WRONG["column"], right=good(workspace))
    ended = workspace.command("crawl", "--jobs", "2")
    assert ended.code == 1
    (line,) = ended.err.splitlines()
    assert line.startswith("wrong: not crawled: ")
    assert TOLD["column"] in line
    assert "right: run 1" in ended.out


def test_without_sqlalchemy_a_table_names_the_extra(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    define(workspace, wrong={**WRONG["column"], "key": ["id"]})
    assert workspace.command("crawl").code == 1, "the table is empty"
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    ended = workspace.command("crawl")
    told = 'a source of the type `table` needs an extra; install it with: pip install "ultracrawl[table]"\n'
    assert (ended.code, ended.out, ended.err) == (2, "", f"ultracrawl: {told}")
    for words in (("lint",), ("lint", "--connect")):
        checked = workspace.command(*words)
        assert checked.code == 2
        assert f" - sources.wrong - {told}" in checked.out + checked.err


def test_scrapy_crawl_takes_a_mistake_for_a_failure(desk: Desk) -> None:
    desk.scrapy_cfg()
    define(desk, wrong=WRONG["column"], right=good(desk))
    ended = desk.scrapy("crawl", "wrong")
    assert ended.code == 1
    assert f"wrong: not crawled: key: {TOLD['column']}" in ended.err
    assert "Traceback" not in ended.err
    assert desk.scrapy("crawl", "right").code == 0
    assert desk.ultracrawl("search", "heron", "--json").json["total"] == 1
