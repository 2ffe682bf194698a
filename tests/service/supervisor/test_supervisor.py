"""The supervisor in the process of the test: orders, phases, definitions that change; its crawls are none."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.clock import wall_time
from support.launching import Launcher, settle
from support.sentences import sentence
from support.until import until_on_loop

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import RunReport, ScheduleStatus
from ultracrawl.run.removal.scope import definition_hash
from ultracrawl.service.orders import CrawlEnd, EventKind, SourcePhase, WallClock
from ultracrawl.service.schedules.runner_claim import open_runner_claim
from ultracrawl.service.source_status import source_status
from ultracrawl.service.supervisor import definitions as definitions_module
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.service.supervisor.serving import ServeOptions, serve
from ultracrawl.service.supervisor.supervisor import Supervisor
from ultracrawl.settings.adhoc import AdhocScope
from ultracrawl.settings.projects import find_project
from ultracrawl.sources import compile_source
from ultracrawl.stores.ordered_crawls import stored_orders
from ultracrawl.stores.port.schedule_store import ScheduleCommand, ScheduleOrder
from ultracrawl.stores.project_stores import open_schedules, open_state, service_notes


def source(**options: Any) -> dict[str, Any]:
    return {"start_urls": ["http://127.0.0.1:1/"], **options}


DEFINITION: dict[str, Any] = {
    "processes": {"default_interval": None},
    "sources": {
        "hourly": source(refresh={"interval": "1 h"}),
        "quiet": source(),
        "nightly": source(),
    },
    "schedules": {"night": {"sources": ["nightly"], "cron": "0 3 * * *"}},
}


class Service:
    def __init__(self, folder: Path, jobs: int) -> None:
        self.file = folder / "ultracrawl.yaml"
        self.write(DEFINITION)
        self.definitions = Definitions(str(self.file))
        self.launcher = Launcher()
        self.jobs = jobs

    def write(self, definition: dict[str, Any]) -> None:
        self.file.write_text(yaml.safe_dump(definition, sort_keys=False))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Supervisor]:
        project = self.definitions.project
        with open_runner_claim(project) as sign, closing(open_schedules(project)) as store:
            self.supervisor = Supervisor(
                self.definitions,
                store,
                WallClock(),
                jobs=self.jobs,
                launcher=self.launcher,
                runner_claim=sign,
            )
            self.events = self.supervisor.events().subscribe()
            keeping = asyncio.ensure_future(self.supervisor.run())
            await settle()
            yield self.supervisor
            await self.supervisor.drain()
            await keeping

    def phases(self) -> dict[str, SourcePhase]:
        return {one.name: one.phase for one in self.supervisor.sources()}

    def waiting(self) -> list[str]:
        """Return the sources that wait for a slot, as another process sees them."""
        project = self.supervisor.project
        states = {name: source_status(project, one)["state"] for name, one in project.sources.items()}
        return [name for name, state in states.items() if state == "waiting"]

    def kinds(self) -> list[EventKind]:
        waiting = self.events._queue
        return [waiting.get_nowait().kind for _ in range(waiting.qsize())]


Scene = Callable[[Service, Supervisor], Coroutine[Any, Any, None]]


def played(jobs: int) -> Callable[[Scene], Callable[[Path], None]]:
    def decorated(scene: Scene) -> Callable[[Path], None]:
        def test(tmp_path: Path) -> None:
            async def play() -> None:
                service = Service(tmp_path, jobs)
                async with service.running() as supervisor:
                    await scene(service, supervisor)

            asyncio.run(play())

        test.__name__ = scene.__name__
        return test

    return decorated


@played(jobs=1)
async def test_what_has_an_interval_is_crawled_and_what_has_none_waits_for_a_person(
    service: Service, supervisor: Supervisor
) -> None:
    assert service.launcher.names == ["hourly"]
    assert service.phases() == {
        "hourly": SourcePhase.RUNNING,
        "quiet": SourcePhase.IDLE,
        "nightly": SourcePhase.IDLE,
    }
    await supervisor.start_source("quiet", force=True)
    await settle()
    assert service.phases()["quiet"] is SourcePhase.QUEUED, "one at a time"
    service.launcher.launched[0].finish()
    await settle()
    assert service.launcher.names == ["hourly", "quiet"]
    assert service.launcher.launched[1].order.force
    last = {one.name: one.last for one in supervisor.sources()}["hourly"]
    assert last is not None


@played(jobs=1)
async def test_other_processes_see_who_waits_for_a_free_place(
    service: Service, supervisor: Supervisor
) -> None:
    await supervisor.start_source("quiet")
    await settle()
    assert service.waiting() == ["quiet"]
    service.launcher.launched[0].finish()
    await settle()
    assert "quiet" not in service.waiting()


@played(jobs=1)
async def test_one_that_had_its_turn_waits_and_is_not_unfinished(
    service: Service, supervisor: Supervisor
) -> None:
    service.write({**DEFINITION, "processes": {"turn": "0.01 s"}})
    await supervisor.reload_definitions()
    await supervisor.start_source("quiet")
    await until_on_loop(lambda: "quiet" in service.launcher.names)
    assert service.waiting() == ["hourly"]


async def pause_while_it_waits(service: Service, supervisor: Supervisor) -> None:
    await settle()
    assert service.phases()["nightly"] is SourcePhase.QUEUED
    await supervisor.pause_source("nightly")
    await settle()
    assert service.waiting() == []
    service.launcher.launched[0].finish()
    await settle()
    assert "nightly" not in service.launcher.names
    await supervisor.resume_source("nightly")
    await settle()


@played(jobs=1)
async def test_one_that_waits_and_is_paused_is_taken_out_of_the_queue(
    service: Service, supervisor: Supervisor
) -> None:
    await supervisor.launch_schedule("night")
    await pause_while_it_waits(service, supervisor)
    assert service.phases()["nightly"] is SourcePhase.QUEUED, "its schedule still wants it"


@played(jobs=1)
async def test_so_is_one_that_a_person_has_ordered(service: Service, supervisor: Supervisor) -> None:
    await supervisor.start_source("nightly")
    await pause_while_it_waits(service, supervisor)
    assert service.phases()["nightly"] is SourcePhase.IDLE


@played(jobs=1)
async def test_another_process_takes_it_out_of_the_queue_too(
    service: Service, supervisor: Supervisor
) -> None:
    for command in (ScheduleCommand.STOP, ScheduleCommand.PAUSE):
        await supervisor.start_source("nightly")
        await settle()
        assert service.waiting() == ["nightly"]
        supervisor._store.leave_order(ScheduleOrder("nightly", command, of_source=True), wall_time())
        await until_on_loop(lambda: "nightly" not in supervisor._pool.crawls)
    assert service.launcher.names == ["hourly"]


@played(jobs=2)
async def test_one_that_is_paused_while_its_process_starts_is_not_crawled(
    service: Service, supervisor: Supervisor
) -> None:
    service.launcher.starting = True
    await supervisor.launch_schedule("night")
    await settle()
    assert service.launcher.names == ["hourly", "nightly"]
    await supervisor.pause_source("nightly")
    await settle()
    assert service.phases()["nightly"] is SourcePhase.IDLE
    assert supervisor.schedules()[0].status is not ScheduleStatus.STOPPED, "it goes on when it is resumed"
    service.launcher.starting = False
    await supervisor.resume_source("nightly")
    await settle()
    assert service.launcher.names == ["hourly", "nightly", "nightly"]


def test_what_people_ordered_is_resumed_by_the_next_service(tmp_path: Path) -> None:
    async def play() -> None:
        killed = Service(tmp_path, 1)
        async with killed.running() as supervisor:
            await supervisor.start_source("quiet", force=True)  # it waits
            await supervisor.start_source("nightly")
            killed.launcher.launched[0].finish()
            await settle()
            assert killed.launcher.names == ["hourly", "quiet"]
        resumed = Service(tmp_path, 3)
        async with resumed.running():
            assert [(one.order.source, one.order.force) for one in resumed.launcher.launched[:2]] == [
                ("quiet", True),
                ("nightly", False),
            ]
            for one in resumed.launcher.launched:
                one.finish()
            await settle()
        calm = Service(tmp_path, 3)
        async with calm.running():
            assert "quiet" not in calm.launcher.names
            assert "nightly" not in calm.launcher.names

    asyncio.run(play())


def ordered(supervisor: Supervisor) -> list[dict[str, bool]]:
    """Return the stored orders of each service that has any."""
    notes = service_notes(supervisor.project)
    assert notes is not None
    return list(stored_orders(notes).values())


def test_what_was_ordered_from_a_service_that_lives_is_not_resumed_by_another_one(tmp_path: Path) -> None:
    async def play() -> None:
        first, second = Service(tmp_path, 1), Service(tmp_path, 1)
        async with first.running() as supervisor:
            await supervisor.start_source("quiet", force=True)
            other = tmp_path / "other.yaml"  # with the same state, and nothing that both run by time
            definition = {**DEFINITION, "sources": {"quiet": source()}, "schedules": {}}
            other.write_text(yaml.safe_dump(definition))
            second.definitions = Definitions(str(other))
            async with second.running():
                assert second.launcher.names == []
            assert ordered(supervisor) == [{"quiet": True}]
        async with second.running():
            assert second.launcher.names == ["quiet"], "it has ended"

    asyncio.run(play())


def test_an_order_for_a_source_that_is_no_longer_defined_is_forgotten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        service = Service(tmp_path, 1)
        async with service.running() as supervisor:
            await supervisor.start_source("quiet")
        service.write({"sources": {"hourly": source(refresh={"interval": "1 h"})}})
        for told in (True, False):
            caplog.clear()
            service = Service.__new__(Service)
            service.definitions = Definitions(str(tmp_path / "ultracrawl.yaml"))
            service.launcher, service.jobs = Launcher(), 1
            async with service.running():
                assert (sentence("supervisor.quiet_not_resumed") in caplog.text) is told

    asyncio.run(play())


@played(jobs=3)
async def test_a_crawl_that_a_person_has_stopped_is_not_resumed(
    service: Service, supervisor: Supervisor
) -> None:
    await supervisor.start_source("quiet")
    await settle()
    await supervisor.stop_source("quiet")
    await settle()
    assert not ordered(supervisor)


@played(jobs=3)
async def test_nothing_is_crawled_twice_at_a_time(service: Service, supervisor: Supervisor) -> None:
    with pytest.raises(WorkError, match="crawled already"):
        await supervisor.start_source("hourly")
    with pytest.raises(UserError, match="no source is named"):
        await supervisor.start_source("daily")
    assert service.launcher.names == ["hourly"]


@played(jobs=3)
async def test_a_person_stops_what_a_person_began(service: Service, supervisor: Supervisor) -> None:
    service.launcher.launched[0].finish()
    await supervisor.start_source("quiet")
    await settle()
    await supervisor.stop_source("quiet")
    await settle()
    assert service.phases()["quiet"] is SourcePhase.IDLE
    with pytest.raises(WorkError, match="not being crawled"):
        await supervisor.stop_source("quiet")


@played(jobs=3)
async def test_a_source_that_is_paused_is_not_begun_until_it_is_resumed(
    service: Service, supervisor: Supervisor
) -> None:
    await supervisor.pause_source("nightly")
    assert [one.name for one in supervisor.sources() if one.paused_by_hand] == ["nightly"]
    await supervisor.launch_schedule("night")
    await settle()
    assert service.launcher.names == ["hourly"]
    await supervisor.resume_source("nightly")
    await settle()
    assert service.launcher.names == ["hourly", "nightly"]
    assert supervisor.schedules()[0].status is ScheduleStatus.EXECUTING


@played(jobs=3)
async def test_changed_definitions_count_and_a_bad_file_changes_nothing(
    service: Service, supervisor: Supervisor
) -> None:
    service.write({**DEFINITION, "sources": {**DEFINITION["sources"], "further": source()}, "schedules": {}})
    found = await supervisor.reload_definitions()
    assert not [one for one in found if one.fatal]
    assert list(service.phases()) == ["hourly", "quiet", "nightly", "further"]
    assert supervisor.schedules() == []
    for bad in ({"sources": {"hourly": source(depth="deep")}}, {"sources": 5}, {"state": "elsewhere"}):
        service.write(bad)
        found = await supervisor.reload_definitions()
        assert [one for one in found if one.fatal], bad
        assert list(service.phases()) == ["hourly", "quiet", "nightly", "further"]
    service.file.write_text("sources: [")
    assert await supervisor.reload_definitions()
    assert list(service.phases()) == ["hourly", "quiet", "nightly", "further"]
    kinds = service.kinds()
    assert (kinds.count(EventKind.RELOADED), kinds.count(EventKind.RELOAD_REFUSED)) == (1, 4)


@played(jobs=3)
async def test_a_reload_begins_nothing_earlier(service: Service, supervisor: Supervisor) -> None:
    refused = RunReport.not_begun("hourly", WorkError("its password cannot be read"))
    service.launcher.launched[0].end.set_result(CrawlEnd("hourly", refused))
    await settle()
    await supervisor.reload_definitions()
    await settle()
    assert service.launcher.names == ["hourly"]


@played(jobs=1)
async def test_who_lasts_longer_than_its_turn_makes_room(service: Service, supervisor: Supervisor) -> None:
    service.write({**DEFINITION, "processes": {"turn": "0.01 s"}})
    await supervisor.reload_definitions()
    for name in ("quiet", "nightly"):
        await supervisor.start_source(name)
    service.launcher.launched[0].finish()  # its turn was that of the definition with which it began
    await until_on_loop(lambda: "nightly" in service.launcher.names)
    assert service.launcher.names[:3] == ["hourly", "quiet", "nightly"]


@pytest.mark.parametrize(
    ("scope", "launched"),
    [
        (AdhocScope(), 0),
        (AdhocScope(delay=0.1), 0),
        (AdhocScope(exclude=("/archive/",)), 1),
        (AdhocScope(depth="2"), 1),
    ],
)
def test_what_a_url_leaves_out_since_its_last_run_is_crawled_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: AdhocScope, launched: int
) -> None:
    async def play() -> None:
        service = Service(elsewhere, jobs=1)
        service.definitions = Definitions(None, urls, scope)
        async with service.running():
            assert service.launcher.names == [name] * launched
            for crawl in service.launcher.launched:
                crawl.finish()
            await settle()
            assert service.launcher.names == [name] * launched, "the next one is due tomorrow"

    monkeypatch.chdir(tmp_path)
    elsewhere, urls = tmp_path / "elsewhere", ("http://127.0.0.1:1/",)
    elsewhere.mkdir()
    project = Definitions(None, urls).project
    ((name, defined),) = project.sources.items()
    with closing(open_state(project, name)) as state:
        run, _ = state.begin_run(wall_time(), definition_hash(compile_source(defined, project)))
        state.end_run(replace(run, finished=wall_time()))
    asyncio.run(play())


def test_a_change_of_the_file_is_seen(tmp_path: Path) -> None:
    service = Service(tmp_path, jobs=1)
    assert not service.definitions.have_changed()
    service.write({"sources": {"one": source()}})
    assert service.definitions.have_changed()
    assert not service.definitions.have_changed()


def test_files_are_looked_at_while_definitions_are_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(config: str | None) -> Any:
        service.write({**DEFINITION, "logs": {"size": "1 MB"}})
        looks.append(service.definitions.have_changed())
        return find_project(config)

    service, looks = Service(tmp_path, jobs=1), list[bool]()
    monkeypatch.setattr(definitions_module, "find_project", find)
    service.definitions.reload()
    assert looks == [True]
    assert not service.definitions.have_changed(), "that is what was read"


def test_a_change_of_a_file_that_a_definition_names_is_seen(tmp_path: Path) -> None:
    service = Service(tmp_path, jobs=1)
    service.write(
        {
            "sources": {
                "one": {
                    "start_url_files": ["seeds.txt"],
                    "boundary": {"domains": {"include": [{"file": "hosts.txt"}]}},
                }
            }
        }
    )
    seeds, hosts, others = tmp_path / "seeds.txt", tmp_path / "hosts.txt", tmp_path / "sources"
    seeds.write_text("http://a.example/\n")
    assert any(one.fatal for one in service.definitions.reload()), "there is no file of hosts"
    for change in (
        lambda: hosts.write_text("suffix .example\n"),
        lambda: seeds.write_text("http://a.example/\nhttp://b.example/\n"),
        others.mkdir,
        lambda: (others / "two.yaml").write_text("start_urls: http://two.example/\n"),
    ):
        assert not service.definitions.have_changed()
        change()
        assert service.definitions.have_changed()
        assert not [one for one in service.definitions.reload() if one.fatal]
    assert service.definitions.project.sources["one"].start_urls == ("http://a.example/", "http://b.example/")
    assert "two" in service.definitions.project.sources


@played(jobs=3)
async def test_one_that_is_draining_begins_nothing(service: Service, supervisor: Supervisor) -> None:
    await supervisor.drain()
    with pytest.raises(WorkError, match="ending"):
        await supervisor.start_source("quiet")
    with pytest.raises(WorkError, match="ending"):
        await supervisor.launch_schedule("night")
    assert set(service.phases().values()) == {SourcePhase.IDLE}


def test_a_disk_that_is_full_at_the_start_is_named_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "ultracrawl.yaml").write_text("sources: {a: {start_urls: ['https://a.example/']}}\n")
    definitions = Definitions(str(tmp_path / "ultracrawl.yaml"))
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(WorkError, match=re.escape(sentence("service.lock_on_a_full_disk"))):
        serve(definitions, ServeOptions(port=0))
