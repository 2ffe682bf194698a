"""Counts of queries: what is counted, what is stored, what is shown."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import stat
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from ultracrawl.errors import WorkError
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.statistics import store as store_module
from ultracrawl.service.statistics.counts import MAX_QUERIES, DayCounts, QueryCounts
from ultracrawl.service.statistics.recorder import (
    LONGEST,
    REPEAT_SECONDS,
    TYPING_SECONDS,
    QueryRecorder,
    counted_text,
)
from ultracrawl.service.statistics.report import LEAST_SHOWN, LEAST_SUGGESTED, query_report
from ultracrawl.service.statistics.store import QueryStore
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions

TOKEN = Requester("token:portal", RequesterKind.TOKEN, Role.READER, ())
DOCS = Requester("key:docs", RequesterKind.KEY, None, ())
ANYBODY = Requester("public", RequesterKind.PUBLIC, None, ())
ANNA = Requester("user:anna", RequesterKind.USER, Role.READER, ())
START = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
TODAY = date(2026, 3, 1)
DAY = 86_400.0


class Counted:
    """A recorder whose clock stands until a test moves it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.now = folder, START
        self.define(**options)
        self.recorder = self.start()

    def define(self, **options: Any) -> None:
        definition = {"state": {"path": str(self.folder / "state")}, "search_page": options}
        (self.folder / "ultracrawl.yaml").write_text(
            json.dumps(definition | {"sources": {"site": {"start_urls": ["http://h/"]}}})
        )
        self.project: Project = require(read_definitions(self.folder / "ultracrawl.yaml"))

    def start(self) -> QueryRecorder:
        return QueryRecorder(lambda: self.project, lambda: self.now)

    def search(self, *texts: str, by: Requester = TOKEN, hits: int = 1, address: str = "a") -> None:
        for text in texts:
            self.recorder.note_search(by, text, hits, address)

    def click(self, text: str, position: int, by: Requester = TOKEN, address: str = "a") -> None:
        self.recorder.note_click(by, text, position, address)

    def flush(self, *, everything: bool = True) -> None:
        asyncio.run(self.recorder.flush(everything=everything))

    @property
    def store(self) -> QueryStore:
        return QueryStore.of_project(self.project)

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.store.folder.glob("*.json*"))

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.now, UTC).date()

    def report(self, **options: Any) -> dict[str, Any]:
        self.flush()
        return query_report(self.store, self.today, **options)

    def times(self, **options: Any) -> dict[str, int]:
        return {row["query"]: row["searches"] for row in self.report(**options)["queries"]}


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    return Counted(tmp_path)


def test_three_searches_are_shown_and_two_are_not(counted: Counted) -> None:
    counted.search("heron", "heron", "egret", "egret", "egret")
    report = counted.report()
    assert [(row["query"], row["searches"]) for row in report["queries"]] == [("egret", LEAST_SHOWN)]
    (day,) = report["days"]
    assert (day["day"], day["searches"]) == (TODAY.isoformat(), 5)
    assert "heron" not in json.dumps(report)


def test_small_numbers_are_null_and_none_is_zero(counted: Counted) -> None:
    counted.search("heron", "heron", "heron")
    counted.search("heron", hits=0)
    (row,) = counted.report()["queries"]
    assert (row["searches"], row["without_answers"], row["clicks"]) == (4, None, 0)


def test_counts_of_several_days_are_added(counted: Counted) -> None:
    for _ in range(3):
        counted.search("heron")
        counted.flush()
        counted.now += DAY
    counted.now -= DAY
    assert counted.times() == {"heron": 3}
    assert counted.times(days=2) == {}
    assert [row["searches"] for row in counted.report()["days"]] == [None, None, None]


def test_queries_without_answers_come_by_how_often_that_was(counted: Counted) -> None:
    counted.search(*["pelikan"] * 4, hits=0)
    counted.search(*["gull"] * 3, hits=0)
    counted.search(*["heron"] * 9)
    counted.search(*["heron"] * 2, hits=0)
    found = counted.report(without_answers=True)["queries"]
    assert [(row["query"], row["without_answers"]) for row in found] == [("pelikan", 4), ("gull", 3)]
    assert [row["query"] for row in counted.report(limit=1)["queries"]] == ["heron"]


def test_case_and_blanks_make_no_difference(counted: Counted) -> None:
    counted.search("Grey Heron", "grey  heron", " GREY\theron ")
    assert counted.times() == {"grey heron": 3}


@pytest.mark.parametrize(
    "text",
    [
        "ann.lee@example.com",
        "mail to ann@example.com now",
        "password: hunter2",
        "api_key=abc",
        "https://ann:secret@www.example.com/",
        "DE89 3704 0044 0532 0130 00",
        "+49 170 1234567",
        "4111 1111 1111 1111",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x",
        "Bearer abcdefgh12345678",
        "ultracrawl_9f8e7d6c5b4a3210_k3J9x0Qw8Zt5",
        "d41d8cd98f00b204e9800998ecf8427e",
        "550e8400-e29b-41d4-a716-446655440000",
        "AKIA4X7Q2M9Z1B8C6D3F",
        "x" * (LONGEST + 1),
        "grey \x1b[31m heron",
        "!?",
        "",
    ],
)
def test_what_looks_like_a_secret_or_a_person_is_not_stored(counted: Counted, text: str) -> None:
    assert counted_text(text) == ""
    counted.search(text, text, text)
    report = counted.report()
    assert report["queries"] == []
    assert report["days"][0]["searches"] == 3, "the sum of the day counts them"
    assert not text.strip() or text not in (counted.store.folder / counted.files[0]).read_text()


@pytest.mark.parametrize(
    "text",
    [
        "create index concurrently",
        "utf8mb4_unicode_520_ci",
        "java.util.concurrent.ConcurrentHashMap",
        "error 0x80070005",
        "2026-11-24 release",
        "forgot password",
        "how to reset a token",
        "net.ipv4.tcp_syncookies",
        "東京タワー",
        "c++ operator[]",
        "https://www.example.com/a/b.html",
    ],
)
def test_ordinary_queries_are_stored(text: str) -> None:
    assert counted_text(text) == text.casefold()


def test_of_what_is_being_typed_only_the_last_form_counts(counted: Counted) -> None:
    for address in "abc":
        for typed in ("h", "her", "heron", "heron nest"):
            counted.search(typed, by=DOCS, address=address)
            counted.now += TYPING_SECONDS / 2
    assert counted.times() == {"heron nest": 3}


def test_a_longer_query_after_a_while_is_another(counted: Counted) -> None:
    for address in "abc":
        counted.search("heron", by=ANYBODY, address=address)
    counted.now += TYPING_SECONDS
    for address in "abc":
        counted.search("heron nest", by=ANYBODY, address=address)
    assert counted.times() == {"heron": 3, "heron nest": 3}


def test_pages_filters_and_reloads_are_one_search(counted: Counted) -> None:
    for _ in range(5):
        counted.search("heron", by=ANYBODY)
        counted.now += REPEAT_SECONDS - 1
    for address in "bc":
        counted.search("heron", by=ANYBODY, address=address)
    assert counted.times() == {"heron": 3}
    counted.now += REPEAT_SECONDS
    counted.search("heron", by=ANYBODY)
    assert counted.times() == {"heron": 4}


def test_what_is_still_typed_is_not_written_yet(counted: Counted) -> None:
    counted.search("her", by=ANYBODY)
    counted.flush(everything=False)
    assert counted.files == []
    counted.now += TYPING_SECONDS
    counted.flush(everything=False)
    assert counted.files == ["2026-03-01.json"]


def test_origins_are_distinguished_and_users_are_not(counted: Counted) -> None:
    counted.search(*["heron"] * 3)
    for number in range(3):
        counted.search("heron", by=DOCS, address=f"k{number}")
        counted.search("heron", by=ANYBODY, address=f"p{number}")
    counted.search("heron", by=ANNA)
    origins = {row["origin"]: row["searches"] for row in counted.report()["origins"]}
    assert origins == {"api": 3, "key:docs": 3, "page": 4}
    assert counted.times() == {"heron": 10}
    assert counted.times(origin="key:docs") == {"heron": 3}
    stored = "".join((counted.store.folder / name).read_text() for name in counted.files)
    assert "anna" not in stored
    assert "portal" not in stored


def test_an_origin_with_two_searches_is_not_shown(counted: Counted) -> None:
    counted.search("heron", "heron", by=DOCS)
    assert counted.report()["origins"] == []


def test_clicks_count_by_position(counted: Counted) -> None:
    counted.search(*["heron"] * 5)
    for position in (1, 1, 1, 2, 40, 50, 60):
        counted.click("Heron", position)
    (row,) = counted.report()["queries"]
    assert row["clicks"] == 7
    assert row["positions"] == [{"position": 1, "clicks": 3}, {"position": 11, "clicks": 3}]
    assert row["mean_position"] == pytest.approx((3 + 2 + 33) / 7, abs=0.1)


def test_a_click_needs_a_search_and_counts_once(counted: Counted) -> None:
    counted.click("never searched", 1)
    counted.click("heron", 1, by=ANYBODY)
    counted.search("heron", by=ANYBODY)
    counted.click("egret", 1, by=ANYBODY)
    for position in (1, 1, 1, 2):
        counted.click("heron", position, by=ANYBODY)
    counted.click("heron", 3, by=ANYBODY, address="elsewhere")
    counted.flush()
    found = counted.store.read(TODAY)
    assert found["page"].queries["heron"].clicks == Counter({1: 1, 2: 1})
    assert found["page"].total.clicks.total() == 2
    assert "api" not in found


def test_a_click_after_a_restart_still_counts(counted: Counted) -> None:
    counted.search(*["heron"] * 3)
    counted.flush()
    counted.recorder = counted.start()
    counted.search("heron")
    counted.flush()
    counted.click("heron", 2)
    counted.flush()
    assert counted.store.read(TODAY)["api"].queries["heron"].clicks == Counter({2: 1})


def test_off_writes_nothing(tmp_path: Path) -> None:
    counted = Counted(tmp_path, statistics=False)
    counted.search(*["heron"] * 3)
    counted.click("heron", 1)
    counted.flush()
    assert not counted.store.folder.exists()
    counted.define()
    counted.search(*["heron"] * 3)
    assert counted.times() == {"heron": 3}, "a changed definition counts from now on"


def test_a_restart_continues_the_counts(counted: Counted) -> None:
    for _ in range(3):
        counted.search("heron")
        counted.flush()
        counted.recorder = counted.start()
    assert counted.times() == {"heron": 3}


def test_nothing_is_written_for_a_single_search(counted: Counted) -> None:
    counted.search(*["heron"] * 100)
    assert not counted.store.folder.exists()
    counted.flush()
    before = (counted.store.folder / counted.files[0]).stat().st_mtime_ns
    counted.flush()
    assert (counted.store.folder / counted.files[0]).stat().st_mtime_ns == before


def test_old_days_are_deleted(tmp_path: Path) -> None:
    counted = Counted(tmp_path, statistics_days=2)
    for _ in range(4):
        counted.search("heron")
        counted.flush()
        counted.now += DAY
    assert counted.files == ["2026-03-03.json", "2026-03-04.json"]
    (counted.store.folder / "notes.txt").write_text("not ours")
    counted.now += 9 * DAY
    counted.define(statistics=False, statistics_days=2)
    counted.flush()
    assert counted.files == []
    assert (counted.store.folder / "notes.txt").exists()


def test_only_the_account_may_read_the_files(counted: Counted) -> None:
    counted.search("heron")
    counted.flush()
    for path in (counted.store.folder, counted.store.folder / counted.files[0]):
        assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)


DAMAGES: list[tuple[str, bytes]] = [
    ("no_json", b"{"),
    ("empty", b""),
    ("another_shape", b'{"api": 3}'),
    ("a_list", b"[]"),
    ("binary", b"\xff\xfe\x00"),
    ("deep", b"[" * 100_000),
    ("words_for_numbers", b'{"api": {"total": ["x", 0, {}], "queries": {}}}'),
]


@pytest.mark.parametrize("content", [one[1] for one in DAMAGES], ids=[one[0] for one in DAMAGES])
def test_a_damaged_file_loses_only_itself(
    counted: Counted, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    counted.search(*["heron"] * 3)
    counted.flush()
    counted.now += DAY
    counted.search(*["egret"] * 3)
    counted.flush()
    (counted.store.folder / "2026-03-01.json").write_bytes(content)
    report = counted.report()
    assert report["damaged"] == ["2026-03-01"]
    assert [row["query"] for row in report["queries"]] == ["egret"]
    (counted.store.folder / "2026-03-02.json").write_bytes(content)
    counted.recorder = counted.start()
    counted.search(*["gull"] * 3)
    with caplog.at_level(logging.WARNING):
        counted.flush()
    assert caplog.records
    report = counted.report()
    assert report["damaged"] == ["2026-03-01", "2026-03-02"]
    assert [row["query"] for row in report["queries"]] == ["gull"]


def test_a_full_disk_breaks_no_search_and_loses_nothing(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_path: Path, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    counted.search(*["heron"] * 3)
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "replace_file", fail)
        counted.flush()
        counted.search("heron")
        counted.flush()
    assert counted.times() == {"heron": 4}


def test_a_day_that_was_written_counts_once_if_the_next_fails(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted.search("heron")
    counted.now += DAY
    counted.search("heron")
    add, failing = QueryStore.add, [True]

    def add_first_only(self: QueryStore, day: date, counts: DayCounts) -> DayCounts:
        if day > TODAY and failing:
            failing.clear()
            raise WorkError("no space left on device")
        return add(self, day, counts)

    monkeypatch.setattr(QueryStore, "add", add_first_only)
    counted.flush()
    counted.flush()
    assert [counted.store.read(day)["api"].total.searches for day in (TODAY, counted.today)] == [1, 1]


def test_memory_and_file_are_bounded(counted: Counted) -> None:
    counted.search(*(f"query {number}" for number in range(MAX_QUERIES + 10)))
    counted.search(*["query 1"] * 2)
    counted.flush()
    found = counted.store.read(TODAY)["api"]
    assert len(found.queries) == MAX_QUERIES
    assert found.total.searches == MAX_QUERIES + 12
    assert found.queries["query 1"].searches == 3
    for number in range(20_000):
        counted.search("x", by=ANYBODY, address=str(number))
    counted.flush()
    assert counted.store.read(TODAY)["page"].total.searches == 20_000


def _add_repeatedly(folder: Path, times: int) -> None:
    store = QueryStore(folder)
    for _ in range(times):
        counts = DayCounts()
        counts.add_query("api", "heron", QueryCounts(1))
        store.add(TODAY, counts)


def test_several_writers_lose_no_count(tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: _add_repeatedly(tmp_path, 20), range(3)))
    assert QueryStore(tmp_path).read(TODAY)["api"].queries["heron"].searches == 60


def test_a_draft_of_a_killed_writer_is_no_day(counted: Counted) -> None:
    counted.search(*["heron"] * 3)
    counted.flush()
    (counted.store.folder / "2026-03-01.json.abc123").write_text("{")
    assert counted.times() == {"heron": 3}
    assert counted.report()["damaged"] == []


def test_the_service_writes_at_its_end(counted: Counted) -> None:
    async def serve() -> None:
        async with counted.recorder.running():
            counted.search("heron", by=ANYBODY)

    asyncio.run(serve())
    assert counted.store.read(TODAY)["page"].total.searches == 1


def test_a_folder_that_cannot_be_read_is_an_error_of_one_line(counted: Counted, tmp_path: Path) -> None:
    counted.search("heron")
    counted.flush()
    path = counted.store.folder / counted.files[0]
    path.unlink()
    path.mkdir()
    with pytest.raises(WorkError):
        query_report(counted.store, TODAY)
    os.rmdir(path)


def test_frequent_queries_complete_what_is_typed_where_the_definition_wants_it(tmp_path: Path) -> None:
    counted = Counted(tmp_path)

    def ask(text: str, times: int, **options: Any) -> None:
        for number in range(times):
            counted.search(text, by=ANNA, address=f"{text} {number}", **options)

    ask("Heron nest", LEAST_SUGGESTED)
    ask("heron eggs", LEAST_SUGGESTED + 1)
    ask("heron", LEAST_SUGGESTED - 1)
    ask("herons in vain", LEAST_SUGGESTED, hits=0)
    counted.search(*["heron of programs"] * LEAST_SUGGESTED)
    counted.flush()
    assert counted.recorder.frequent_beginning_with("her", 9) == []
    counted.define(former_queries="frequent")
    counted.flush()
    found = counted.recorder.frequent_beginning_with
    assert found(" HERon  e", 9) == ["heron eggs"]
    assert found("her", 9) == ["heron eggs", "heron nest"]
    assert found("her", 1) == ["heron eggs"]
    assert found("heron eggs", 9) == found("", 9) == []
    counted.search("heron", by=ANNA, address="another")
    counted.flush()
    assert found("her", 9) == ["heron eggs", "heron nest"], "they are read once an hour"
    counted.now += 3600
    counted.flush()
    assert found("her", 9) == ["heron eggs", "heron", "heron nest"]
    counted.define()
    assert found("her", 9) == []
