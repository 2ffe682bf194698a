"""Notices in a service: what happens, what nobody tells, and ways that do not work for a while."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.x509 import load_pem_x509_certificate
from support.certificates import Authority
from support.supervision import FakeSupervision

from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.service.notices import watch
from ultracrawl.service.notices.notice import Notice
from ultracrawl.service.notices.noticing import Noticing, notice_of
from ultracrawl.service.notices.watch import ServiceWatch, certificate_end_of, interval_of
from ultracrawl.service.orders import CrawlEnd, Event, EventKind
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.notices import NoticeKind

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

    def notices(self, now: float) -> Any:
        return iter(())

    def deletions_waiting(self, name: str, now: float) -> Notice | None:
        return self.waiting


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


def test_every_kind_of_event_that_has_the_name_of_a_notice_is_one() -> None:
    assert {kind.value for kind in NoticeKind} - {"test"} <= {kind.value for kind in EventKind}


def test_a_way_that_does_not_work_gets_everything_later(tmp_path: Path) -> None:
    project, clock, way, only = (
        project_of(tmp_path),
        SetClock(),
        KeptNotices(),
        KeptNotices([NoticeKind.DISK_LOW]),
    )
    only.name = "only"
    noticing = Noticing(lambda: project, FakeSupervision(), clock, channels=[way, only], watch=NothingToSee())

    async def live() -> None:
        way.works = False
        await noticing.take_event(failed(clock.at))
        for _ in range(10):
            await noticing.hold_round()
            clock.at += 5
        way.works = True
        await noticing.take_event(failed(clock.at, "intranet"))
        for _ in range(10):
            await noticing.hold_round()
            clock.at += 5

    asyncio.run(live())
    assert [[one.source for one in message] for message in way.sent] == [["handbook", "intranet"]]
    assert only.sent == []


def test_what_happens_in_a_service_is_told_while_it_runs_and_at_its_end(tmp_path: Path) -> None:
    project, clock, way, supervisor = project_of(tmp_path), SetClock(), KeptNotices(), FakeSupervision()
    waiting = Notice(NoticeKind.DELETIONS_HELD, "handbook", "3 documents", clock.at)
    noticing = Noticing(lambda: project, supervisor, clock, channels=[way], watch=NothingToSee(waiting))

    async def live() -> None:
        async with noticing.running():
            supervisor.tell(failed(clock.at))
            while not way.sent:
                await asyncio.sleep(0.01)
            supervisor.tell(Event(EventKind.CHILD_DIED, clock.at, "handbook", "killed by signal 9"))
            await asyncio.sleep(0.05)

    asyncio.run(live())
    kinds = [one.kind for message in way.sent for one in message]
    assert sorted(kinds) == sorted([NoticeKind.RUN_FAILED, NoticeKind.DELETIONS_HELD, NoticeKind.CHILD_DIED])


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


def test_a_low_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_of(tmp_path, notices={"certificate_days": 0, "disk_free": "2 GB"})
    monkeypatch.setattr(watch, "free_bytes", lambda path: 1e9 if path.name == "index" else 1e12)
    (low,) = ServiceWatch(lambda: project).notices(1e9)
    assert low.kind is NoticeKind.DISK_LOW
    assert "1.00 GB left" in low.text


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
