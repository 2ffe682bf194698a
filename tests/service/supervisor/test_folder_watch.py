"""Folders that are watched: which changes have a source crawled, and when."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import watchfiles
import yaml
from support.launching import Launcher, settle
from support.sentences import sentence
from support.until import until_on_loop

from ultracrawl.cli.look.local_checks import check_watching
from ultracrawl.service.orders import WallClock
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.service.schedules.runner_claim import open_runner_claim
from ultracrawl.service.supervisor import folder_watch
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.folder_watch import (
    MAX_WAIT_SECONDS,
    MIN_CRAWL_INTERVAL,
    QUIET_SECONDS,
    ChangeTimes,
    SourceWatch,
)
from ultracrawl.service.supervisor.supervisor import Supervisor
from ultracrawl.sources import Project
from ultracrawl.stores.port.schedule_store import KeptSchedule
from ultracrawl.stores.project_stores import open_schedules

PATIENCE = 40.0
ON_CHANGE = {"processes": {"default_interval": None}}
"""A source without times is crawled when its folder changes, and not every day too."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_watch, "_CHECK_INTERVAL", 0.02)
    for name in ("QUIET_SECONDS", "MIN_CRAWL_INTERVAL", "RETRY_SECONDS"):
        monkeypatch.setattr(folder_watch, name, 0.0)


class Node:
    """What a supervisor asks the node that it is."""

    name = "a"
    takes = True
    watching = False

    def held(self, plans: Sequence[Plan]) -> list[Plan]:
        return []

    def row_of(self, plan: Plan) -> KeptSchedule:
        return KeptSchedule(plan.key)

    def may_take(self, source: str) -> bool:
        return self.takes

    def watches(self, source: str) -> bool:
        return self.watching


class Share:
    """A project with a watched folder, and a service whose crawls are none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.docs = folder / "docs"
        (self.docs / "private").mkdir(parents=True)
        self.launcher = Launcher()
        self.node: Node | None = None
        self.write(watch=True)

    def write(self, **options: Any) -> None:
        source = {"type": "file", "paths": ["docs"], "exclude": ["private"], **options}
        file = self.folder / "ultracrawl.yaml"
        file.write_text(yaml.safe_dump({**ON_CHANGE, "sources": {"share": source}, "logs": "docs/log"}))

    def play(self, scene: Callable[[Share], Awaitable[None]]) -> None:
        asyncio.run(self._play(scene))

    async def _play(self, scene: Callable[[Share], Awaitable[None]]) -> None:
        definitions = Definitions(str(self.folder / "ultracrawl.yaml"))
        project = definitions.project
        name = self.node.name if self.node else ""
        with open_runner_claim(project, name) as sign, closing(open_schedules(project)) as store:
            sign.share, sign.by_time_only = self.node, self.node is not None
            made = Supervisor(
                definitions, store, WallClock(), jobs=1, launcher=self.launcher, runner_claim=sign
            )
            self.supervisor = made
            keeping = asyncio.ensure_future(made.run())
            await settle()
            await scene(self)
            await made.drain()
            await keeping

    @property
    def crawls(self) -> int:
        return len(self.launcher.launched)

    async def look_often(self) -> None:
        for _ in range(20):
            await self.supervisor._check_once()
            await asyncio.sleep(0.02)

    async def until_crawls(self, number: int) -> None:
        """Wait for a crawl, and end it."""
        await until_on_loop(lambda: self.crawls >= number, self.supervisor._check_once)
        assert self.crawls == number
        self.launcher.launched[-1].finish()
        await settle()


@pytest.fixture
def share(tmp_path: Path) -> Share:
    return Share(tmp_path)


def test_a_change_has_the_source_crawled(share: Share) -> None:
    async def scene(share: Share) -> None:
        await share.until_crawls(1)  # for what changed before
        (share.docs / "new").mkdir()
        await share.until_crawls(2)
        (share.docs / "new" / "one.txt").write_text("words")
        await share.until_crawls(3)
        assert share.launcher.launched[-1].order.source == "share"

    share.play(scene)


def test_a_node_watches_what_is_bound_to_it_until_it_drains(
    share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(share: Share) -> None:
        await share.until_crawls(1)
        assert share.node is not None
        share.node.takes = False
        (share.docs / "one.txt").write_text("words")
        await share.look_often()
        assert share.crawls == 1, "it takes nothing now"
        share.node.takes = True
        await share.until_crawls(2)

    share.node = Node()
    monkeypatch.setattr(Project, "node_of", lambda *_: "a")
    share.play(scene)


def test_a_node_watches_what_is_bound_to_none_as_long_as_it_holds_the_watch(share: Share) -> None:
    async def scene(share: Share) -> None:
        await share.look_often()
        assert share.crawls == 0
        assert share.node is not None
        share.node.watching = True
        share.supervisor.replace_watches()
        await share.until_crawls(1)
        (share.docs / "one.txt").write_text("words")
        await share.until_crawls(2)
        share.node.watching = False
        share.supervisor.replace_watches()
        (share.docs / "two.txt").write_text("words")
        await share.look_often()
        assert share.crawls == 2

    share.node = Node()
    share.play(scene)


@pytest.mark.parametrize("bound", ["", "b"])
def test_a_node_watches_nothing_that_is_not_bound_to_it(
    share: Share, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    async def scene(share: Share) -> None:
        (share.docs / "one.txt").write_text("words")
        await share.look_often()
        assert share.crawls == 0

    share.node = Node()
    monkeypatch.setattr(Project, "node_of", lambda *_: bound)
    share.play(scene)


def test_changes_wait_as_long_as_the_source_is_crawled_or_paused(share: Share) -> None:
    async def scene(share: Share) -> None:
        await share.until_crawls(1)
        await share.supervisor.start_source("share")
        (share.docs / "one.txt").write_text("words")
        await share.look_often()
        assert share.crawls == 2, "it is crawled by hand, and not twice at once"
        await share.supervisor.pause_source("share")
        share.launcher.launched[-1].finish()
        await settle()
        await share.look_often()
        assert share.crawls == 2, "it is paused"
        await share.supervisor.resume_source("share")
        await share.until_crawls(3)

    share.play(scene)


def test_the_crawl_of_a_change_can_be_stopped(share: Share) -> None:
    async def scene(share: Share) -> None:
        await until_on_loop(lambda: share.crawls, share.supervisor._check_once)
        await share.supervisor.stop_source("share")
        assert (await share.launcher.launched[0].finished()).report is not None

    share.play(scene)


def test_a_folder_that_goes_and_comes_back_is_reported_and_watched_again(
    share: Share, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(share: Share) -> None:
        await share.until_crawls(1)
        aside = share.folder / "aside"
        os.rename(share.docs, aside)
        await share.until_crawls(2)
        await until_on_loop(lambda: "does not exist" in caplog.text)
        os.rename(aside, share.docs)
        before = share.crawls
        await until_on_loop(lambda: share.crawls != before, share.supervisor._check_once)
        share.launcher.launched[-1].finish()
        await settle()

    with caplog.at_level(logging.WARNING, "ultracrawl"):
        share.play(scene)


def test_definitions_that_change_begin_and_end_the_watch(share: Share) -> None:
    share.write(watch=False)

    async def scene(share: Share) -> None:
        assert not share.supervisor._watch._watches
        share.write(watch=True)
        await share.supervisor.reload_definitions()
        await share.until_crawls(1)
        await share.supervisor.reload_definitions()
        await share.look_often()
        assert share.crawls == 1, "what has not changed is watched as before"
        share.write(watch=False)
        await share.supervisor.reload_definitions()
        assert not share.supervisor._watch._watches

    share.play(scene)


def test_folders_that_cannot_be_watched_are_reported_once(
    share: Share, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def refuse(*_: object, **__: object) -> None:
        tries.append(1)
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(watchfiles, "watch", refuse)

    async def scene(share: Share) -> None:
        await until_on_loop(lambda: len(tries) >= 3)
        assert not share.crawls

    with caplog.at_level(logging.WARNING, "ultracrawl"):
        share.play(scene)
    told = [one.getMessage() for one in caplog.records if "cannot be watched" in one.getMessage()]
    assert told == [sentence("supervisor.folders_not_watched")]


def test_without_the_extra_the_service_says_so_and_goes_on(
    share: Share, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(share: Share) -> None:
        await share.supervisor.start_source("share")
        await settle()
        assert share.crawls == 1
        share.launcher.launched[0].finish()

    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with caplog.at_level(logging.WARNING, "ultracrawl"):
        share.play(scene)
    assert 'pip install "ultracrawl[watch]"' in caplog.text


def test_lint_misses_the_extra(share: Share, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Definitions(str(share.folder / "ultracrawl.yaml")).project
    (source,) = project.sources.values()
    assert not list(check_watching(project, source))
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    [hint] = check_watching(project, source)
    assert hint.path == ("watch",)
    assert 'pip install "ultracrawl[watch]"' in hint.instead
    assert not hint.fatal


# ---- which changes count


def test_what_the_crawl_does_not_look_at_or_writes_itself_does_not_count(
    share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: dict[str, bool] = {}
    true = SourceWatch._affects_source

    def judge(self: SourceWatch, path: str) -> bool:
        judged[os.path.relpath(path, share.docs)] = answer = true(self, path)
        return answer

    monkeypatch.setattr(SourceWatch, "_affects_source", judge)
    left_out = ["private/a.txt", ".hidden", "log/share.log"]
    (share.docs / "log").mkdir()

    async def scene(share: Share) -> None:
        await share.until_crawls(1)
        for name in left_out:
            (share.docs / name).write_text("words")
        await until_on_loop(lambda: judged.keys() >= set(left_out))
        await settle()
        await share.supervisor._check_once()
        assert share.crawls == 1
        (share.docs / "marker.txt").write_text("words")
        await share.until_crawls(2)

    share.play(scene)
    assert not any(judged[name] for name in left_out)


# ---- when


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> ChangeTimes:
    for name, seconds in (("QUIET_SECONDS", QUIET_SECONDS), ("MIN_CRAWL_INTERVAL", MIN_CRAWL_INTERVAL)):
        monkeypatch.setattr(folder_watch, name, seconds)
    return ChangeTimes()


def test_nothing_is_due_without_a_change(times: ChangeTimes) -> None:
    assert not times.is_due(1e9)


def test_a_crawl_is_due_when_it_is_quiet(times: ChangeTimes) -> None:
    times.note_change(1000.0)
    times.note_change(1000.0 + QUIET_SECONDS - 1)
    assert not times.is_due(1000.0 + QUIET_SECONDS)
    assert times.is_due(1000.0 + 2 * QUIET_SECONDS - 1)


def test_changes_without_end_have_a_crawl_begin_now_and_then(times: ChangeTimes) -> None:
    begun: list[int] = []
    for now in range(1000, 5000):
        times.note_change(now)
        if times.is_due(now):
            times.note_crawl(now)
            begun.append(now)
    assert {later - earlier for earlier, later in pairwise(begun)} == {MAX_WAIT_SECONDS + 1}


def test_two_crawls_for_changes_have_a_rest_between_them(times: ChangeTimes) -> None:
    begun: list[int] = []
    for now in range(1000, 2000):
        if now % (2 * QUIET_SECONDS) == 0:
            times.note_change(now)
        if times.is_due(now):
            times.note_crawl(now)
            begun.append(now)
    assert all(later - earlier >= MIN_CRAWL_INTERVAL for earlier, later in pairwise(begun))
    assert len(begun) > 10


def test_a_clock_that_is_set_back_holds_nothing_up(times: ChangeTimes) -> None:
    times.note_crawl(1e6)
    times.note_change(1e6 + 1)
    assert times.is_due(1000.0)
