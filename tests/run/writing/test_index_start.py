"""When the index process begins, and when a crawl has heard of its last commit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from support.project import Workspace
from support.site import Site

from ultracrawl.index.writing import project_outputs
from ultracrawl.index.writing.project_outputs import open_indexer, prestart_indexer
from ultracrawl.run.writing import finishing
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions

TWO = {"feeding": {"destinations": {"main": {"index": "archive", "primary": True}, "copy": {}}}}


class NotedProcess:
    """Stands for an index process, and notes whether it was started."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.started = False

    def prepare(self) -> None:
        self.started = True


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(project_outputs, "IndexProcess", NotedProcess)
    monkeypatch.setattr(project_outputs, "_prestarted", {})
    workspace = Workspace(tmp_path)
    one: dict[str, Any] = {"start_urls": ["http://a.example/"]}
    held = {"feeding": {"paused": True}}
    elsewhere = {"feeding": {"destinations": {"main": {"destination": "export"}}}}
    workspace.write(
        {
            "indexes": {"archive": "var/archive"},
            "destinations": {"export": {"type": "jsonl", "path": "var/export.jsonl"}},
            "sources": {"one": one, "two": one | TWO, "held": one | held, "elsewhere": one | elsewhere},
        }
    )
    return require(read_definitions(tmp_path / "ultracrawl.yaml"))


@pytest.mark.parametrize(("source", "index"), [("one", "default"), ("two", "archive")])
def test_who_opens_the_way_to_an_index_gets_the_process_that_was_started_ahead(
    project: Project, source: str, index: str
) -> None:
    prestart_indexer(project, project.sources[source])
    first, second = (cast("NotedProcess", open_indexer(project, index)) for _ in range(2))
    assert (first.started, second.started) == (True, False)
    assert first.config == second.config


@pytest.mark.parametrize("source", ["held", "elsewhere"])
def test_none_is_started_ahead_for_what_gets_no_documents(project: Project, source: str) -> None:
    prestart_indexer(project, project.sources[source])
    assert not cast("NotedProcess", open_indexer(project)).started


def test_a_process_that_cannot_be_started_is_reported_by_the_crawl(project: Project) -> None:
    index = project.index.model_copy(update={"engine": "nonsense"})
    prestart_indexer(project.model_copy(update={"index": index}), project.sources["one"])


def test_it_is_started_ahead_for_crawls_that_are_sure_to_need_it(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = list[str]()
    monkeypatch.setattr(project_outputs, "prestart_indexer", lambda _, source: ahead.append(source.name))
    site.page("/", title="Home", text="heron")
    workspace.define(f"{url}/")
    for words, expected in (((), ["site"]), ((), []), (("--force",), ["site"])):
        workspace.crawl(*words)
        assert ahead == expected
        ahead.clear()
    (workspace.directory / "var" / "index" / "verified.txt").unlink()
    workspace.crawl()
    assert ahead == ["site"], "the index has to be looked at"


class Answering:
    """Stands for a writer whose index answers at once, or after so many looks."""

    def __init__(self, looks: int) -> None:
        self._looks = looks

    @property
    def busy(self) -> bool:
        return self._looks > 0

    def collect(self) -> None:
        self._looks -= 1

    def drain(self) -> None:
        pass

    def retry(self) -> None:
        pass


@pytest.mark.parametrize("looks", [0, 1, 2, 20])
def test_nobody_waits_after_the_last_commit_and_short_ones_are_heard_of_at_once(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = list[float]()

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(finishing, "sleep", note)
    writer = cast("IndexWriter", Answering(looks))
    assert asyncio.run(finishing.finish_writing(writer, lambda: None, 60.0)) == ""
    assert len(pauses) == max(0, looks - 1)
    assert pauses == sorted(pauses)
    assert sum(pauses[:3]) < 0.01
    assert max(pauses, default=0.0) <= 0.02
