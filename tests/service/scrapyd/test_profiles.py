"""Crawls on another machine: begun by a Scrapyd, followed, found again, ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.clock import wall_time
from support.fake_scrapyd import PROJECT, FakeScrapyd
from support.launching import Launcher, settle
from support.project import Workspace
from support.sentences import sentence
from support.until import until_on_loop

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import RunReport, ScheduleStatus, UrlOutcome
from ultracrawl.run.logs.job_report import log_report
from ultracrawl.service.orders import CrawlEnd, CrawlHandle, CrawlOrder, EventStream, SourcePhase, WallClock
from ultracrawl.service.scrapyd.crawls import PATIENCE
from ultracrawl.service.scrapyd.launcher import ProfileLauncher, status_of_other_crawl
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.service.supervisor.supervisor import Supervisor
from ultracrawl.settings.projects import find_project
from ultracrawl.sources import Project
from ultracrawl.stores.project_stores import open_schedules, open_state

pytestmark = pytest.mark.processes  # a server on loopback


class Hurried:
    """A clock whose waits take a hundredth of the time that they should."""

    def __init__(self) -> None:
        self.slept = 0.0

    def now(self) -> float:
        return wall_time() + self.slept

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)
        self.slept += seconds


@pytest.fixture
def scrapyd() -> Iterator[FakeScrapyd]:
    with FakeScrapyd().served() as fake:
        yield fake


def project_of(folder: Path, fake: FakeScrapyd, **profile: str) -> Project:
    source = {"start_urls": ["http://127.0.0.1:1/"]}
    definition = {
        "processes": {"default_interval": None},
        "sources": {"handbook": source, "news": source, "local": source},
        "profiles": {"north": {"scrapyd": fake.url, "project": PROJECT, **profile}},
        "schedules": {
            "nightly": {"sources": ["handbook"], "cron": "0 0 29 2 *", "profile": "north"},
            "weekly": {"sources": ["local"], "cron": "0 0 29 2 *"},
        },
    }
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump(definition))
    return find_project(str(file))[0]


class Scene:
    def __init__(self, folder: Path, scrapyd: FakeScrapyd) -> None:
        self.folder = folder
        self.scrapyd = scrapyd
        self.here, self.clock = Launcher(), Hurried()
        self.take(project_of(folder, scrapyd))

    def take(self, project: Project) -> None:
        self.launcher = ProfileLauncher(self.here, lambda: project, self.clock)

    async def launch(self, **order: Any) -> CrawlHandle:
        return await self.launcher.launch(
            CrawlOrder("handbook", schedule="nightly", profile="north", **order)
        )


Played = Callable[[Scene], Coroutine[Any, Any, None]]


def played(scene: Played) -> Callable[[Path, FakeScrapyd], None]:
    def test(tmp_path: Path, scrapyd: FakeScrapyd) -> None:
        asyncio.run(scene(Scene(tmp_path, scrapyd)))

    test.__name__ = scene.__name__
    return test


@played
async def test_a_crawl_is_begun_there_and_followed_to_its_end__ultra_search_128(scene: Scene) -> None:
    crawl = await scene.launch(force=True, mode="index-only")
    (key,) = scene.scrapyd.keys
    assert key.startswith("nightly.handbook.")
    assert scene.scrapyd.jobs[key] == {
        "spider": "handbook",
        "phase": "pending",
        "settings": ["ULTRACRAWL_JOB_REPORT=1", "ULTRACRAWL_FORCE=1", "ULTRACRAWL_MODE=index-only"],
    }
    scene.scrapyd.jobs[key]["phase"] = "running"
    ending = asyncio.ensure_future(crawl.finished())
    seen = scene.scrapyd.asked
    await until_on_loop(lambda: scene.scrapyd.asked > seen + 2)
    assert not ending.done()
    scene.scrapyd.end()
    end = await ending
    assert end == CrawlEnd("handbook", None)
    assert not end.failed
    assert scene.here.names == [], "nothing is crawled here"


def test_its_report_counts_if_the_state_is_on_this_machine(tmp_path: Path, scrapyd: FakeScrapyd) -> None:
    async def play() -> CrawlEnd:
        crawl = await Scene(tmp_path, scrapyd).launch()
        with closing(open_state(project_of(tmp_path, scrapyd), "handbook")) as state:
            run, _ = state.begin_run(wall_time(), "")
            report = RunReport("handbook", "1", "2026-01-01T00:00:00Z", problems=["the disk is full"])
            report.outcomes[UrlOutcome.NEW] += 3
            report.status_codes[200] += 3
            told = json.dumps(report.as_json())
            state.end_run(replace(run, finished=ended_at, report=told))
        scrapyd.end()
        return await crawl.finished()

    ended_at = wall_time() + 60
    end = asyncio.run(play())
    assert end.report is not None
    assert (end.failed, end.line, end.report.outcomes) == (True, "the disk is full", {UrlOutcome.NEW: 3})
    scrapyd.jobs.clear()
    ended_at = wall_time() - 60
    assert asyncio.run(play()) == CrawlEnd("handbook", None), "that of an earlier run says nothing"


@pytest.mark.parametrize(
    ("written", "failed", "line"),
    [
        ([], False, ""),
        (["the disk is full"], True, "the disk is full"),
    ],
)
def test_its_report_is_read_in_its_log_if_the_state_is_elsewhere(
    tmp_path: Path,
    scrapyd: FakeScrapyd,
    caplog: pytest.LogCaptureFixture,
    written: list[str],
    failed: bool,
    line: str,
) -> None:
    async def play() -> CrawlEnd:
        crawl = await Scene(tmp_path, scrapyd).launch()
        report = RunReport("handbook", "7", "2026-01-01T00:00:00Z", problems=written)
        report.outcomes[UrlOutcome.NEW] += 3
        with caplog.at_level("INFO"):
            log_report(RunReport("handbook", "6", "", problems=["of the cycle before"]))
            log_report(report)
        told = "\n".join(f"2026-01-01 00:00:00 [x] INFO: {one.getMessage()}" for one in caplog.records)
        scrapyd.logs[f"{PROJECT}/handbook/{scrapyd.keys[0]}.log"] = (
            f"{told}\nINFO: Spider closed (finished)\n"
        )
        scrapyd.end()
        return await crawl.finished()

    end = asyncio.run(play())
    assert end.report is not None
    assert (end.failed, end.line, end.report.run_id) == (failed, line, "7")
    assert end.report.outcomes == {UrlOutcome.NEW: 3}


@pytest.mark.parametrize(
    "log", ["INFO: Spider opened\n", "ultracrawl-report: {broken", "ultracrawl-report: [1]\n"]
)
def test_a_job_that_left_no_report_in_its_log_has_failed_and_its_schedule_goes_on(
    tmp_path: Path, scrapyd: FakeScrapyd, log: str
) -> None:
    async def scene(supervisor: Supervisor, _here: Launcher) -> None:
        await supervisor.launch_schedule("nightly")
        await until_on_loop(lambda: bool(scrapyd.keys))
        scrapyd.logs[f"{PROJECT}/handbook/{scrapyd.keys[0]}.log"] = log
        scrapyd.end()
        await until_on_loop(lambda: supervisor.schedules()[0].last_end is not None)
        state = supervisor.schedules()[0]
        assert (state.status, state.next_run is None) == (ScheduleStatus.FAILED, False)
        assert sentence("scrapyd.no_report") in state.error

    supervised(tmp_path, scrapyd, scene)


@played
async def test_without_a_profile_it_is_crawled_here(scene: Scene) -> None:
    await scene.launcher.launch(CrawlOrder("local", schedule="weekly"))
    assert (scene.here.names, scene.scrapyd.asked) == (["local"], 0)


@played
async def test_one_that_still_runs_is_found_again_and_not_begun_twice(scene: Scene) -> None:
    first = await scene.launch()
    again = await scene.launch()
    assert len(scene.scrapyd.keys) == 1
    scene.scrapyd.end()
    assert [await first.finished(), await again.finished()] == [CrawlEnd("handbook", None)] * 2
    third = await scene.launch()
    assert len(scene.scrapyd.keys) == 2, "one that has ended is none that goes on"
    await third.kill_crawl()


@played
async def test_what_somebody_else_began_there_is_no_crawl_of_ours(scene: Scene) -> None:
    scene.scrapyd.add("of-cron", "running")
    with pytest.raises(WorkError, match="crawls the source 'handbook' already, as job 'of-cron'"):
        await scene.launch()
    scene.scrapyd.add("of-cron", "running", spider="news")
    await (await scene.launch()).kill_crawl()


@pytest.mark.parametrize("phase", ["pending", "running"])
def test_a_stop_ends_it_cleanly(tmp_path: Path, scrapyd: FakeScrapyd, phase: str) -> None:
    async def play() -> CrawlEnd:
        crawl = await Scene(tmp_path, scrapyd).launch()
        scrapyd.jobs[scrapyd.keys[0]]["phase"] = phase
        scrapyd.fails = True
        await crawl.stop_crawl()
        asked = scrapyd.asked
        await until_on_loop(lambda: scrapyd.asked > asked + 1)
        scrapyd.fails = False  # the order was not heard, and is given again
        return await crawl.finished()

    end = asyncio.run(play())
    assert (end.report, end.died, end.error) == (None, False, sentence("stop.resumed_by_next_crawl"))
    assert [signal for _, signal in scrapyd.signals] == ["INT"]


@played
async def test_a_kill_waits_for_nothing(scene: Scene) -> None:
    crawl = await scene.launch()
    await crawl.kill_crawl()
    assert [signal for _, signal in scene.scrapyd.signals] == ["KILL"]
    assert not (await crawl.finished()).died
    await crawl.kill_crawl()
    assert len(scene.scrapyd.signals) == 1


@played
async def test_a_job_that_is_no_more_has_died(scene: Scene) -> None:
    crawl = await scene.launch()
    scene.scrapyd.jobs.clear()
    end = await crawl.finished()
    assert (end.report, end.died, end.failed) == (None, True, True)
    assert sentence("scrapyd.job_unknown") in end.error


@played
async def test_one_whose_scrapyd_is_silent_for_too_long_has_failed_and_was_not_stopped(scene: Scene) -> None:
    crawl = await scene.launch()
    scene.scrapyd.fails, asked = True, scene.scrapyd.asked
    ending = asyncio.ensure_future(crawl.finished())
    await until_on_loop(lambda: scene.scrapyd.asked > asked + 1)
    assert not ending.done()
    scene.clock.slept += PATIENCE
    end = await ending
    assert end.report is not None
    assert (end.failed, end.died) == (True, False)
    assert "responded with 502 Bad Gateway; the job nightly.handbook." in end.line


@played
async def test_mistakes_are_reported_in_one_line(scene: Scene) -> None:
    scrapyd = scene.scrapyd
    with pytest.raises(UserError, match=sentence("scrapyd.no_profile_south")):
        await scene.launcher.launch(CrawlOrder("handbook", profile="south"))
    scrapyd.spiders = ()
    with pytest.raises(WorkError, match=f"^profile 'north': the Scrapyd at {scrapyd.url} refuses: spider"):
        await scene.launch()
    scene.take(project_of(scene.folder, scrapyd, project="other"))
    with pytest.raises(WorkError, match="refuses: project 'other' not found"):
        await scene.launch()
    scrapyd.log_in = "crawls:open sesame"
    with pytest.raises(WorkError, match="responded with 401 Unauthorized"):
        await scene.launch()
    scene.take(project_of(scene.folder, scrapyd, scrapyd="http://127.0.0.1:1"))
    with pytest.raises(
        WorkError, match=r"^profile 'north': the Scrapyd at http://127.0.0.1:1 cannot be reached"
    ):
        await scene.launch()


def test_it_is_asked_with_the_password(
    tmp_path: Path, scrapyd: FakeScrapyd, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        scene = Scene(tmp_path, scrapyd)
        scene.take(project_of(tmp_path, scrapyd, user="crawls", password="${NORTH}"))
        with pytest.raises(
            UserError, match=r"profiles.north.password: the environment variable NORTH is not"
        ):
            await scene.launch()
        monkeypatch.setenv("NORTH", "open sesame")
        await (await scene.launch()).kill_crawl()

    scrapyd.log_in = "crawls:open sesame"
    asyncio.run(play())
    assert len(scrapyd.keys) == 0, "it was begun, and ended"


# ---- in commands, and in the service


def test_status_says_that_a_source_is_crawled_elsewhere(tmp_path: Path, scrapyd: FakeScrapyd) -> None:
    project_of(tmp_path, scrapyd)
    workspace = Workspace(tmp_path)
    rows = {row["source"]: row["profile"] for row in workspace.command("status", "--json").json["sources"]}
    assert rows == {"handbook": "north", "news": None, "local": None}
    assert workspace.command("status").out.count(sentence("scrapyd.on_another_machine")) == 1


def test_a_command_that_runs_a_schedule_runs_it_there(tmp_path: Path, scrapyd: FakeScrapyd) -> None:
    project_of(tmp_path, scrapyd)
    scrapyd.log_in = "nobody:knows"
    workspace = Workspace(tmp_path)
    ended = workspace.command("schedule", "launch", "nightly")
    problem = f"profile 'north': the Scrapyd at {scrapyd.url} responded with 401 Unauthorized"
    assert (ended.code, problem in ended.out + ended.err) == (1, True)
    state = workspace.command("schedule", "show", "nightly", "--json").json
    assert (state["status"], state["error"], state["profile"]) == ("failed", problem, "north")
    assert not (tmp_path / "var" / "state" / "handbook.sqlite").exists()


def supervised(folder: Path, scrapyd: FakeScrapyd, scene: Callable[..., Coroutine[Any, Any, None]]) -> None:
    async def play() -> None:
        project_of(folder, scrapyd)
        definitions, here = Definitions(str(folder / "ultracrawl.yaml")), Launcher()
        with closing(open_schedules(definitions.project)) as store:
            supervisor = Supervisor(definitions, store, WallClock(), jobs=1, launcher=here)
            keeping = asyncio.ensure_future(supervisor.run())
            await settle()
            await scene(supervisor, here)
            await supervisor.drain()
            await keeping

    asyncio.run(play())


def test_its_crawls_take_no_place_of_those_here_and_a_person_starts_them_there(
    tmp_path: Path, scrapyd: FakeScrapyd
) -> None:
    async def scene(supervisor: Supervisor, here: Launcher) -> None:
        await supervisor.launch_schedule("weekly")
        await supervisor.launch_schedule("nightly")
        await until_on_loop(lambda: bool(scrapyd.keys))
        await until_on_loop(lambda: supervisor.schedules()[0].status is ScheduleStatus.EXECUTING)
        assert here.names == ["local"]
        phases = {one.name: one.phase for one in supervisor.sources()}
        assert phases["handbook"] is SourcePhase.RUNNING
        scrapyd.end()
        await until_on_loop(lambda: supervisor.schedules()[0].status is ScheduleStatus.SCHEDULED)
        assert supervisor.schedules()[0].error == ""
        await supervisor.start_source("handbook")
        await until_on_loop(lambda: len(scrapyd.keys) == 2)
        assert scrapyd.keys[1].startswith("by-hand.handbook.")
        assert here.names == ["local"]

    supervised(tmp_path, scrapyd, scene)
    assert [signal for _, signal in scrapyd.signals] == ["INT"], "who ends has its crawls end"


def test_one_that_cannot_be_reached_fails_and_is_tried_again_at_its_next_time(
    tmp_path: Path, scrapyd: FakeScrapyd
) -> None:
    async def scene(supervisor: Supervisor, here: Launcher) -> None:
        scrapyd.fails = True
        await supervisor.launch_schedule("nightly")
        await until_on_loop(lambda: supervisor.schedules()[0].status is ScheduleStatus.FAILED)
        state = supervisor.schedules()[0]
        assert state.error == sentence("scrapyd.bad_gateway", url=scrapyd.url)
        assert state.next_run is not None
        assert here.names == [], "it runs there, and nowhere else"

    supervised(tmp_path, scrapyd, scene)


def test_the_sign_of_a_crawl_here_keeps_no_crawl_from_being_found_again(
    tmp_path: Path, scrapyd: FakeScrapyd, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign = object()
    monkeypatch.setattr("ultracrawl.service.scrapyd.launcher.readable_status", lambda *_: sign)
    project = project_of(tmp_path, scrapyd)
    assert status_of_other_crawl(project, "handbook") is None
    assert status_of_other_crawl(project, "local") is sign


def test_a_pool_gives_the_places_to_crawls_here() -> None:
    async def play() -> None:
        launcher = Launcher()
        pool = CrawlPool(launcher, WallClock(), EventStream(), limits=SlotLimits(1))
        for order in (CrawlOrder("a"), CrawlOrder("b", profile="north"), CrawlOrder("c")):
            await pool.launch(order)
        await settle()
        assert sorted(launcher.names) == ["a", "b"], "one here, and the one there beside it"
        await pool.kill_crawls()

    asyncio.run(play())
