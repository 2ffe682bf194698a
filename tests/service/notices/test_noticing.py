"""Notices in a service: what happens, what nobody tells, and ways that do not work for a while."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.x509 import load_pem_x509_certificate
from support.certificates import Authority
from support.sentences import sentence
from support.supervision import FakeSupervision
from support.until import until_on_loop

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.service.notices import noticing as noticing_module
from ultracrawl.service.notices import watch
from ultracrawl.service.notices.notice import Notice
from ultracrawl.service.notices.noticing import Noticing, notice_of
from ultracrawl.service.notices.watch import ServiceWatch, certificate_end_of, interval_of
from ultracrawl.service.orders import CrawlEnd, Event, EventKind
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.notices import NoticeKind
from ultracrawl.stores.project_stores import open_state, source_notes
from ultracrawl.stores.source_notes.failure import FailureNote, note_failure

DAY = 86_400.0


class SetClock:
    """A clock that a test sets."""

    def __init__(self, at: float = 1e9) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


class KeptNotices:
    """A way that keeps what is sent, or does not work."""

    name = "kept"

    def __init__(self, kinds: Sequence[NoticeKind] = ()) -> None:
        self.kinds = frozenset(kinds)
        self.sent: list[list[Notice]] = []
        self.works = True

    def send(self, notices: Sequence[Notice]) -> None:
        if not self.works:
            raise WorkError("no way")
        self.sent.append(list(notices))


class NothingToSee(ServiceWatch):
    """Looks at nothing."""

    def __init__(self, waiting: Notice | None = None) -> None:
        self.waiting = waiting

    def failed_sources(self) -> set[str]:
        return set()

    def notices(self, now: float) -> Any:
        return iter(())

    def new_traps(self, name: str, since: float, now: float) -> list[Notice]:
        return []

    def held_back(self, name: str, now: float) -> list[Notice]:
        return [self.waiting] if self.waiting else []


def project_of(folder: Path, source: dict[str, Any] | None = None, **head: Any) -> Project:
    one = {"start_urls": ["https://h.example/"], **(source or {})}
    (folder / "ultracrawl.yaml").write_text(yaml.safe_dump({"sources": {"handbook": one}, **head}))
    return require(read_definitions(folder / "ultracrawl.yaml"))


def failed(at: float, source: str = "handbook") -> Event:
    report = RunReport(source, "1", "", problems=["no answer\x1b[2J"])
    return Event(EventKind.RUN_FAILED, at, source, end=CrawlEnd(source, report))


def test_events_that_need_a_person_are_notices() -> None:
    assert notice_of(failed(5.0)) == Notice(NoticeKind.RUN_FAILED, "handbook", "no answer [2J", 5.0)
    assert notice_of(Event(EventKind.RUN_ENDED, 5.0, "handbook")) is None
    refused = notice_of(Event(EventKind.RELOAD_REFUSED, 5.0, text="a.yaml:3 - wrong"))
    assert refused is not None
    assert str(refused) == "ultracrawl: a.yaml:3 - wrong"


def test_the_source_is_named_once() -> None:
    told = notice_of(Event(EventKind.CHILD_DIED, 5.0, "handbook", "killed by signal 9"))
    assert str(told) == str(Event(EventKind.CHILD_DIED, 5.0, "handbook", "killed by signal 9"))
    assert str(told) == "handbook: killed by signal 9"


def test_a_way_that_does_not_work_gets_everything_later(tmp_path: Path) -> None:
    project, clock, way, only = (
        project_of(tmp_path),
        SetClock(),
        KeptNotices(),
        KeptNotices([NoticeKind.DISK_LOW]),
    )
    only.name = "only"
    noticing = Noticing(
        lambda: project, FakeSupervision(), clock, channels=lambda _: [way, only], watch=NothingToSee()
    )

    async def live() -> None:
        way.works = False
        await noticing.add_event(failed(clock.at))
        for _ in range(10):
            await noticing.hold_round()
            clock.at += 5
        way.works = True
        await noticing.add_event(failed(clock.at, "intranet"))
        for _ in range(10):
            await noticing.hold_round()
            clock.at += 5

    asyncio.run(live())
    assert [[one.source for one in message] for message in way.sent] == [["handbook", "intranet"]]
    assert only.sent == []


def test_what_happens_in_a_service_is_reported_while_it_runs_and_at_its_end(tmp_path: Path) -> None:
    project, clock, way, supervisor = project_of(tmp_path), SetClock(), KeptNotices(), FakeSupervision()
    waiting = Notice(NoticeKind.DELETIONS_HELD, "handbook", "3 documents", clock.at)
    noticing = Noticing(
        lambda: project, supervisor, clock, channels=lambda _: [way], watch=NothingToSee(waiting)
    )

    async def live() -> None:
        async with noticing.running():
            supervisor.tell(failed(clock.at))
            await until_on_loop(lambda: way.sent)
            supervisor.tell(Event(EventKind.CHILD_DIED, clock.at, "handbook", "killed by signal 9"))
            for _ in range(10):  # so that it has heard of it
                await asyncio.sleep(0)

    asyncio.run(live())
    kinds = [one.kind for message in way.sent for one in message]
    assert sorted(kinds) == sorted([NoticeKind.RUN_FAILED, NoticeKind.DELETIONS_HELD, NoticeKind.CHILD_DIED])


def good(at: float, source: str = "handbook") -> Event:
    return Event(EventKind.RUN_ENDED, at, source, "done", CrawlEnd(source, RunReport(source, "2", "")))


def test_a_week_of_failures_is_reported_now_and_then_and_its_end_once(tmp_path: Path) -> None:
    project, clock, way = project_of(tmp_path, notices={"every": "6 h"}), SetClock(), KeptNotices()
    noticing = Noticing(
        lambda: project, FakeSupervision(), clock, channels=lambda _: [way], watch=NothingToSee()
    )

    async def live() -> None:
        for minute in range(7 * 24 * 60 + 24 * 60):
            await noticing.add_event(failed(clock.at) if minute < 7 * 24 * 60 else good(clock.at))
            await noticing.hold_round()
            clock.at += 60

    asyncio.run(live())
    told = [(one.kind, one.times) for message in way.sent for one in message]
    failures = [times for kind, times in told if kind is NoticeKind.RUN_FAILED]
    assert len(failures) <= 7 * 4 + 1
    assert sum(failures) == 7 * 24 * 60
    assert [kind for kind, _ in told].count(NoticeKind.RECOVERED) == 1
    assert len(way.sent) <= 7 * 4 + 2


def test_pages_that_fell_are_reported_after_a_crawl_that_ended(tmp_path: Path) -> None:
    (tmp_path / "golden.yaml").write_text("- query: heron\n  pages: https://h.example/heron\n")
    project = project_of(tmp_path, search_page={"check_answers": "golden.yaml"})
    clock, way, supervisor = SetClock(), KeptNotices(), FakeSupervision()
    noticing = Noticing(lambda: project, supervisor, clock, channels=lambda _: [way], watch=NothingToSee())

    async def live() -> None:
        async with noticing.running():
            supervisor.tell(good(clock.at))
            await until_on_loop(lambda: way.sent)

    asyncio.run(asyncio.wait_for(live(), 60))
    assert [one.kind for message in way.sent for one in message] == [NoticeKind.ANSWERS_FELL]
    assert "https://h.example/heron" in way.sent[0][0].text


def test_a_stopped_crawl_is_no_recovery(tmp_path: Path) -> None:
    project, clock, way = project_of(tmp_path), SetClock(), KeptNotices([NoticeKind.RECOVERED])
    noticing = Noticing(
        lambda: project, FakeSupervision(), clock, channels=lambda _: [way], watch=NothingToSee()
    )

    async def live() -> None:
        await noticing.add_event(failed(clock.at))
        stopped = CrawlEnd("handbook", RunReport("handbook", "2", "", interrupted=True))
        unknown = CrawlEnd("handbook", None)
        for end in (stopped, unknown):
            await noticing.add_event(Event(EventKind.RUN_ENDED, clock.at, "handbook", "", end))
        clock.at += 60
        await noticing.hold_round()
        assert way.sent == []
        await noticing.add_event(good(clock.at))
        clock.at += 60
        await noticing.hold_round()

    asyncio.run(live())
    assert [[one.kind for one in message] for message in way.sent] == [[NoticeKind.RECOVERED]]


async def two_failures(
    noticing: Noticing, supervisor: FakeSupervision, clock: SetClock, way: KeptNotices
) -> None:
    """Have two sources fail, the second once the first was told of."""
    async with noticing.running():
        for source in ("handbook", "intranet"):
            supervisor.tell(failed(clock.at, source))
            await until_on_loop(
                lambda source=source: source in {one.source for message in way.sent for one in message}
            )


@pytest.mark.parametrize(
    ("problems", "noted", "recovers"),
    [([], 0, False), (["no answer"], 0, True), (["no answer"], 50, True), ([], 50, False), ([], 150, True)],
)
def test_a_recovery_after_a_restart_is_reported(
    tmp_path: Path, problems: list[str], noted: int, recovers: bool
) -> None:
    project = project_of(tmp_path, processes={"default_interval": None})  # nothing becomes stale meanwhile
    clock, way, supervisor = SetClock(), KeptNotices(), FakeSupervision()
    with closing(open_state(project, "handbook")) as state:
        run, _ = state.begin_run(50.0, "")
        told = json.dumps(RunReport("handbook", "1", "", problems=problems).as_json())
        state.end_run(replace(run, finished=100.0, report=told))
    if noted:
        note_failure(source_notes(project, "handbook"), FailureNote(noted, "its password cannot be read"))
    watch = ServiceWatch(lambda: project, lambda *_: None)
    noticing = Noticing(lambda: project, supervisor, clock, channels=lambda _: [way], watch=watch)

    async def live() -> None:
        async with noticing.running():
            supervisor.tell(good(clock.at))
            supervisor.tell(failed(clock.at, "last"))
            await until_on_loop(lambda: "last" in {one.source for message in way.sent for one in message})

    asyncio.run(live())
    kinds = [one.kind for message in way.sent for one in message if one.source == "handbook"]
    assert (NoticeKind.RECOVERED in kinds) is recovers


def test_a_way_that_hangs_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for patience in ("_PATIENCE", "_LAST_PATIENCE"):
        monkeypatch.setattr(noticing_module, patience, 0.05)
    project, clock, way, released = project_of(tmp_path), SetClock(), KeptNotices(), threading.Event()

    class Hanging(KeptNotices):
        name = "hanging"

        def send(self, notices: Sequence[Notice]) -> None:
            self.sent.append(list(notices))
            released.wait()

    hanging, supervisor = Hanging(), FakeSupervision()
    noticing = Noticing(
        lambda: project, supervisor, clock, channels=lambda _: [hanging, way], watch=NothingToSee()
    )

    try:
        asyncio.run(two_failures(noticing, supervisor, clock, way))
    finally:
        released.set()
    assert [[one.source for one in message] for message in hanging.sent] == [["handbook"]]


def test_what_goes_wrong_is_logged_and_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project, clock, way, supervisor = project_of(tmp_path), SetClock(), KeptNotices(), FakeSupervision()

    class Broken(KeptNotices):
        name = "broken"

        def send(self, notices: Sequence[Notice]) -> None:
            raise TypeError("a plug-in has a bug")

    class BlindWatch(NothingToSee):
        def notices(self, now: float) -> Any:
            raise ValueError("no such day")

        def held_back(self, name: str, now: float) -> list[Notice]:
            raise OSError("no such file")

    noticing = Noticing(
        lambda: project, supervisor, clock, channels=lambda _: [Broken(), way], watch=BlindWatch()
    )

    asyncio.run(two_failures(noticing, supervisor, clock, way))
    for line in ("notices.to.broken: TypeError: a plug-in", "ValueError: no such day", "OSError: no such"):
        assert line in caplog.text
    assert "Traceback" not in caplog.text


def test_ways_are_those_of_the_definition_as_it_is_now(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def opened(project: Project) -> list[KeptNotices]:
        if "broken" in project.notices.to:
            raise UserError("notices.to.broken.url: no such service")
        for name in project.notices.to:
            ways.setdefault(name, KeptNotices()).name = name
        return [ways[name] for name in project.notices.to]

    def define(*names: str) -> Project:
        return project_of(tmp_path, notices={"to": {name: {"command": "true"} for name in names}})

    ways: dict[str, KeptNotices] = {}
    project, clock = define(), SetClock()
    noticing = Noticing(lambda: project, FakeSupervision(), clock, channels=opened, watch=NothingToSee())

    async def tell(source: str) -> None:
        for _ in range(2):
            await noticing.hold_round()
            await noticing.add_event(failed(clock.at, source))
            clock.at += 60

    asyncio.run(tell("handbook"))
    assert ways == {}
    project = define("ops")
    asyncio.run(tell("intranet"))
    project = define("ops", "broken")
    asyncio.run(tell("news"))
    assert [one.source for message in ways["ops"].sent for one in message] == ["intranet", "news"]
    assert sentence("notices.previous_channels_stay") in caplog.text


def test_a_source_is_stale_after_two_of_its_intervals(tmp_path: Path) -> None:
    project = project_of(
        tmp_path, {"refresh": {"interval": "1 d"}}, notices={"certificate_days": 0, "disk_free": 1}
    )
    looks = ServiceWatch(lambda: project)
    assert list(looks.notices(1e9)) == []
    assert list(looks.notices(1e9 + 2 * DAY)) == []
    (stale,) = looks.notices(1e9 + 2 * DAY + 1)
    assert (stale.kind, stale.source) == (NoticeKind.SOURCE_STALE, "handbook")


def test_the_interval_is_that_of_the_schedule(tmp_path: Path) -> None:
    schedule = {"sources": ["handbook"], "cron": "0 3 * * mon"}
    project = project_of(tmp_path, schedules={"weekly": schedule})
    assert interval_of(project, project.sources["handbook"], 1e9) == 7 * DAY
    project = project_of(tmp_path, schedules={"weekly": {**schedule, "enabled": False}})
    assert interval_of(project, project.sources["handbook"], 1e9) is None
    profiles = {"north": {"scrapyd": "http://127.0.0.1:6800", "project": "p"}}
    project = project_of(tmp_path, schedules={"weekly": {**schedule, "profile": "north"}}, profiles=profiles)
    assert interval_of(project, project.sources["handbook"], 1e9) is None, "its state is there"


def test_a_low_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_of(tmp_path, notices={"certificate_days": 0, "disk_free": "2 GB"})
    monkeypatch.setattr(watch, "free_bytes", lambda path: 1e9 if path.name == "index" else 1e12)
    (low,) = ServiceWatch(lambda: project).notices(1e9)
    assert low.kind is NoticeKind.DISK_LOW
    assert "1.00 GB free" in low.text


def test_certificates_are_looked_at_once_a_day(tmp_path: Path) -> None:
    project = project_of(tmp_path, notices={"disk_free": 1})
    asked: list[tuple[str, int]] = []

    def end(host: str, port: int, policy: AddressPolicy) -> float:
        asked.append((host, port))
        return 1e9 + 10 * DAY

    looks = ServiceWatch(lambda: project, end)
    (soon,) = looks.notices(1e9)
    assert (soon.kind, soon.source) == (NoticeKind.CERTIFICATE_EXPIRES, "handbook")
    assert "h.example:443" in soon.text
    assert list(looks.notices(1e9 + DAY - 1)) == []
    assert len(list(looks.notices(1e9 + DAY))) == 1
    assert asked == [("h.example", 443)] * 2


def test_the_end_of_a_certificate_is_read_where_the_network_is_allowed(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    expected = load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc.timestamp()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def shake_hands() -> None:
            opened, _ = listening.accept()
            with suppress(OSError), context.wrap_socket(opened, server_side=True) as secured:
                secured.recv(1)

        server = threading.Thread(target=shake_hands)
        server.start()
        allowed = AddressPolicy.for_source((), ["127.0.0.0/8"])
        assert certificate_end_of("127.0.0.1", port, AddressPolicy()) is None
        assert certificate_end_of("127.0.0.1", port, allowed) == expected
        server.join()
