"""Every verb does for a source that is listed what it does for a web site, whatever the kind; so does Scrapy."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from scrapy_ways.runs import Desk
from support.agent_system import AgentSystem
from support.project import Ended, Workspace
from support.sentences import sentence

NAMES = ("heron", "egret", "stork")
SHARED = {"storage": {"keep": True}, "groups": ["birds"], "deletion": {"percent": 0, "always": 0}}
Put = Callable[[Path, tuple[str, ...]], None]


def put_files(folder: Path, names: tuple[str, ...]) -> None:
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    for file in docs.iterdir():
        if file.stem not in names:
            file.unlink()
    for name in names:
        if not (docs / f"{name}.txt").exists():
            (docs / f"{name}.txt").write_text(f"common {name}")


def put_rows(folder: Path, names: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(folder / "t.db")) as base, base:
        base.execute("CREATE TABLE IF NOT EXISTS t (name TEXT PRIMARY KEY, text TEXT)")
        base.execute("DELETE FROM t")
        base.executemany("INSERT INTO t VALUES (?, ?)", [(name, f"common {name}") for name in names])


def put_documents(folder: Path, names: tuple[str, ...]) -> None:
    shown = [
        {"display_url": f"https://x.example/{name}", "doc_key": name, "text": f"common {name}"}
        for name in names
    ]
    AgentSystem(folder).put(*shown)


def sources(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        "file": {
            "type": "file",
            "paths": ["docs"],
            "display_url": {f"file://{folder}/docs/": "https://x.example/"},
        },
        "table": {
            "type": "table",
            "connection": "sqlite:///t.db",
            "table": "t",
            "key": ["name"],
            "text": ["text"],
            "display_url": "https://x.example/{name}",
        },
        "agent": {"type": "agent", "class": "tracker.Tracker", "parameters": {"folder": str(folder)}},
    }


PUT: dict[str, Put] = {"file": put_files, "table": put_rows, "agent": put_documents}
ENDING = {"file": ".txt", "table": "", "agent": ""}


@pytest.mark.parametrize("kind", PUT)
def test_verbs_know_what_is_listed(workspace: Workspace, kind: str) -> None:
    folder, put, ending = workspace.directory, PUT[kind], ENDING[kind]
    workspace.write({"sources": {"s": {**SHARED, **sources(folder)[kind]}}})

    def run(*words: str, code: int = 0) -> Ended:
        ended = workspace.command(*words)
        assert ended.code == code, (words, ended)
        assert "Traceback" not in ended.err
        return ended

    def url(name: str) -> str:
        return f"https://x.example/{name}{ending}"

    def found(*words: str) -> list[str]:
        return sorted(hit["url"] for hit in run("search", "common", "--json", *words).json["hits"])

    put(folder, NAMES)
    assert sentence("explain.listed_by_the_source") in run("explain", url("heron")).out
    assert sentence("plan.begins_with_the_listing") in run("plan", "s").out
    assert sentence("plan.begins_a_cycle") in run("queue", "s").out
    assert run("crawl", "s", "--json").run["outcomes"] == {"NEW": 3}
    assert found("--group", "birds") == sorted(map(url, NAMES))

    (row,) = run("status", "--json").json["sources"]
    assert (row["state"], row["known"], row["indexed"]) == ("idle", 3, 3)
    rows = {one["display_url"]: one for one in run("urls", "--json").lines}
    assert sorted(rows) == sorted(map(url, NAMES))
    for asked in (url("heron"), rows[url("heron")]["access_url"]):
        told = run("explain", asked, "--json").json
        assert (told["accept"], told["display_url"], told["record"]["outcome"]) == (True, url("heron"), "NEW")
    assert run("plan", "s", "--json").json["sources"][0]["listed"]
    assert run("lists").out == ""

    assert run("reindex", "s", "--json").run["outcomes"] == {"REINDEXED": 3}
    assert len(found()) == 3
    run("export", "s", "--warc", "s.warc")
    assert all(f"common {name}".encode() in (folder / "s.warc").read_bytes() for name in NAMES)

    put(folder, NAMES[1:])
    run("crawl", "s", code=1)
    assert len(found()) == 3
    assert run("status", "--json").json["sources"][0]["leaving"] == 1
    assert run("approve-deletions", "s", "--json").json["done"] == "deleted"
    assert found() == sorted(map(url, NAMES[1:]))

    run("approve", "s", "--remove", url("stork"))
    assert run("crawl", "s", "--json").run["outcomes"] == {"NOT_MODIFIED": 1}
    assert found() == [url("egret")]
    run("approve", "s", "--restore", url("stork"))
    run("crawl", "s")
    assert found() == sorted(map(url, NAMES[1:]))


def test_scrapy_crawl_does_the_same(desk: Desk) -> None:
    folder = desk.directory
    desk.scrapy_cfg()
    (folder / "ultracrawl.yaml").write_text(yaml.safe_dump({"sources": sources(folder)}))
    assert sorted(desk.scrapy("list").out.split()) == sorted(PUT)
    for kind, put in PUT.items():
        put(folder, NAMES)
        desk.crawled(kind, "-O", f"{kind}.jsonl")
        items = [json.loads(line) for line in (folder / f"{kind}.jsonl").read_text().splitlines()]
        assert sorted(item["url"] for item in items) == sorted(
            f"https://x.example/{name}{ENDING[kind]}" for name in NAMES
        )
        put(folder, NAMES[1:])
        desk.crawled(kind)
    status = {one["source"]: one["indexed"] for one in desk.ultracrawl("status", "--json").json["sources"]}
    assert status == dict.fromkeys(PUT, 2)
