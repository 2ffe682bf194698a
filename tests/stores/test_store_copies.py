"""Stores that are copied to another place are equal there, and a copy that was killed is begun again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from stores.conftest import IN_SERVERS, a_schema
from support.project import Workspace
from support.site import Site

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.rules.duplicates.fingerprint import blocks
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import rows as kinds
from ultracrawl.stores.copying.copy import CopiedStores, copy_stores
from ultracrawl.stores.copying.place import StorePlace, place_at
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.notes import NotesOf
from ultracrawl.stores.port.transfer import OF_PROJECT, OF_SOURCE, name_of
from ultracrawl.stores.project_stores import open_state
from ultracrawl.stores.rows import Row, UrlRow
from ultracrawl.stores.runner_registry import RunnerRegistration
from ultracrawl.stores.source_notes.definition import DEFINITION, is_defined_elsewhere, note_definition
from ultracrawl.stores.source_notes.failure import FAILURE
from ultracrawl.stores.source_notes.let_in import LET_IN
from ultracrawl.stores.source_notes.lost_versions import LOST_VERSIONS
from ultracrawl.stores.source_notes.traps import TRAPS
from ultracrawl.stores.unfinished_copy import UnfinishedCopy, mark_unfinished

PATHS = [
    pytest.param(names, marks=pytest.mark.servers if IN_SERVERS & {*names} else (), id="-".join(names))
    for names in (["sqlite", "sqlite"], ["sqlite", "postgresql", "sqlite"], ["postgresql", "postgresql"])
]
URLS = 12
BIG = 1 << 62


def _record(number: int) -> UrlRecord:
    record = UrlRecord(
        f"http://h{number % 3}/{number}?ü", "s", number % 4, first_seen=1.5, preference=number % 2
    )
    match number % 4:
        case 0:
            return record
        case 1:
            links = array("q", [number + 1, -BIG]).tobytes()
            seen = {
                "etag": '"e"',
                "last_modified": "Mon",
                "checksum": b"\0c",
                "fingerprint": bytes([number] * 8),
            }
            return replace(
                record, outcome=UrlOutcome.NEW, indexed=True, last_fetched=7.25, links=links, **seen
            )
        case 2:
            cause = Cause(CauseCode.REDIRECT, "http://h1/1", "why")
            return replace(record, outcome=UrlOutcome.REDIRECTED, cause=cause, display_url="http://shown/")
    leaves = Removal(RemovalReason.GONE, Cause(CauseCode.STATUS, "404", "gone"))
    done = {"status_code": 404, "failed_runs": 2, "hops": 3, "language": "de", "sketch": b"s"}
    return replace(record, outcome=UrlOutcome.GONE, submitted=True, removal=leaves, **done)


def rows_of_each_kind() -> dict[type[Row], Sequence[Row]]:
    """Return rows of each kind, with the borders of their values."""
    keys = {number: number * (-BIG // 16) for number in range(1, URLS + 1)}
    purposes = [(purpose.value, keys[2], purpose.value.encode()) for purpose in sorted(Retained, key=_order)]
    held = {Retained.APPROVAL.value: "pending", Retained.CHANGE.value: "held_back"}
    urls = [UrlRow(number * 3, key, f"h{number % 3}", _record(number)) for number, key in keys.items()]
    waiting = {held[purpose]: True for purpose, *_ in purposes if purpose in held}
    urls[1] = urls[1]._replace(record=replace(urls[1].record, **waiting))
    signature = 0x0123_4567_89AB_CDEF
    plain: dict[type[Row], Sequence[Row]] = {
        kinds.RunRow: [
            (1, 1.0, 2.0, "scope", '{"a": 1}', 1, 0, 5.5, "known", 3),
            (2, 3.0, 0.0, "scope", "", 1, 1, 0.0, "soft", 0),
        ],
        kinds.ListingRow: [(1, '{"so": "far"}'), (2, "")],
        kinds.RevisitRow: [
            (keys[1], 2, 1.0, 2.0, 3, 1, 4.5, 6.0, True, "daily", 0.5, 8.0),
            (keys[2], 1, 0.0, 0.0, 0, 0, 0.0, 0.0, False, "", None, 0.0),
        ],
        kinds.FailureRow: [(keys[3], "404", 2), (keys[3], "timeout", 1)],
        kinds.QueueRow: [
            ("h0", 1, -2, 3, 1, keys[3], 0), ("h0", 1, 0, 3, 2, keys[6], 2), ("h1", 0, 5, 0, BIG, keys[4], 1),
        ],
        kinds.AllowanceRow: [("h0", 4), ("h1", 0)],
        kinds.DetourRow: [(keys[2], 3)],
        kinds.RetainedRow: purposes,
        kinds.ExpiryRow: [(keys[1], 99.5)],
        kinds.CopyRow: [(keys[2], "c1", False), (keys[1], "c1", True)],
        kinds.SiteRow: [("h0", 5.0, 1.5, 0, "two rules", ""), ("h1", 6.0, None, 2, "", "mirror")],
        kinds.SitemapRow: [(keys[5], 2, True, b"12345678")],
        kinds.AnnouncedRow: [(keys[1], 1_700_000_000)],
        kinds.FeedLinkRow: [(keys[5], keys[1], 1.0, 0.0, 4, True, False)],
        kinds.SignatureRow: [(block, bytes([1] * 8), signature) for block in sorted(blocks(signature))],
        kinds.AnchorRow: [(7, keys[1], "part", "a 'text'\twith\n\\. signs", 2), (BIG, 5, "", "b", 0)],
        kinds.AnchorTextRow: [("a", 2, True), ("ä", 9, False)],
        kinds.PageAnchorsRow: [(keys[1], b"\0" * 16)],
        kinds.RedirectRow: [(keys[2], keys[1])],
        kinds.SubmittedTextsRow: [(keys[2], None, False, True), (keys[1], -5, True, False)],
        kinds.DroppedAnchorsRow: [(b"12345678", None), (None, 6)],
        kinds.DepthDueRow: [(keys[2], b""), (keys[1], b"12345678")],
        kinds.ClockRow: [("h0", 5.0, 4.0, 1.0, "robots", True, 2, 3.0, "timeout", 2.0)],
        kinds.RobotsRow: [("http://h0:80", "*", 1.0, 200, b"User-agent: *", "", False, 0.0, 3.0)],
        kinds.SessionRow: [("login", 2.0, b"\xff\0")],
        kinds.ScheduleRow: [("nightly", "disabled", "why", None, 1.0, 2.0, "a.log", '["s"]')],
        kinds.ScheduleRunRow: [
            ("nightly", 9.0, 9.5, "scheduled", "", "b.log", '{"s": ""}'),
            ("nightly", 1.0, 2.0, "failed", "why", "", "{}"),
        ],
        kinds.PausedRow: [("s",)],
        kinds.OrderRow: [("s", True, "resume", 5.0), ("nightly", False, "launch", 4.0)],
    }  # fmt: skip
    return {UrlRow: urls, **{kind: [kind(*row) for row in rows] for kind, rows in plain.items()}}


def _order(purpose: Retained) -> int:
    return list(Retained).index(purpose)


def _all_rows(place: StorePlace) -> dict[str, list[Row]]:
    """Return every row of a place by source and kind."""
    with place.transfer.exporting(place.folder) as rows:
        return {
            f"{source}.{name_of(kind)}": sorted(rows.rows(kind, source), key=repr)
            for source in ("", *rows.sources)
            for kind in (OF_SOURCE if source else OF_PROJECT)
        }


@pytest.fixture
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[StorePlace]]:
    """Places by the engines that are named, all with one folder for what an engine keeps on this machine."""
    names: Sequence[str] = request.param
    found, schemas = list[StorePlace](), []
    for number, name in enumerate(names):
        folder, options = tmp_path / f"state{number}", {}
        if name in IN_SERVERS:
            schemas.append(a_schema(request.getfixturevalue("database")))
            options = schemas[-1].__enter__()
        found.append(StorePlace(name, folder, options))
    yield found
    for schema in schemas:
        schema.__exit__(None, None, None)


def _fill(place: StorePlace) -> None:
    """Create two sources with rows of each kind."""
    rows = rows_of_each_kind()
    with place.transfer.importing(place.folder, ["empty", "s"]) as written:
        for kind in OF_SOURCE:
            written.write(kind, rows[kind], "s")
        for kind in OF_PROJECT:
            written.write(kind, rows[kind])
        written.finish()


def _copied(origin: StorePlace, target: StorePlace) -> CopiedStores:
    return copy_stores(origin, target, lambda *_: None)


@pytest.mark.parametrize("places", PATHS, indirect=True)
def test_every_row_of_each_kind_arrives(places: list[StorePlace]) -> None:
    _fill(places[0])
    for name in (FAILURE, LET_IN, LOST_VERSIONS, TRAPS):
        places[0].notes("s").write(name, name.encode())
    before, rows = _all_rows(places[0]), rows_of_each_kind()
    for kind in (*OF_SOURCE, *OF_PROJECT):
        source = "s" if kind in OF_SOURCE else ""
        assert before[f"{source}.{name_of(kind)}"] == sorted(rows[kind], key=repr), name_of(kind)
    for origin, target in pairwise(places):
        copied = _copied(origin, target)
        assert _all_rows(target) == before == _all_rows(origin)
        for name in (FAILURE, LET_IN, LOST_VERSIONS, TRAPS):
            assert target.notes("s").read(name) == name.encode()
        assert copied.sources["empty"] == {}
        assert copied.sources["s"] == {name_of(kind): len(rows[kind]) for kind in OF_SOURCE} | {"note": 4}
        assert copied.rows == sum(map(len, rows.values())) + 4
        with closing(target.engine.open_store(target.folder, "s")) as store:
            assert store.records.count_urls().known == URLS
            assert len(store.records.redirecting_to("http://h1/1")) == 3
            assert len(store.records.with_display_url("http://shown/")) == 3
            assert [r.url for r in store.records.with_fingerprint(bytes([5] * 8))] == ["http://h2/5?ü"]
            assert store.queue.next_seq() == BIG + 1


@pytest.mark.parametrize("places", PATHS[1:2], indirect=True)
def test_texts_that_not_every_store_can_hold_are_replaced_and_counted(places: list[StorePlace]) -> None:
    origin, target, back = places
    _fill(origin)
    with closing(sqlite3.connect(origin.folder / "s.sqlite")) as db, db:  # as it was written before
        db.execute("UPDATE url SET detail='no' || char(0), etag=char(0) || 'ä' WHERE id=6")
        db.execute("UPDATE anchor SET text='b' || char(0) WHERE target=5")
    assert (_copied(origin, target).changed, _copied(target, back).changed) == (2, 0)
    assert _all_rows(target) == _all_rows(back)
    with closing(back.engine.open_store(back.folder, "s", read_only=True)) as store:
        (record,) = [
            one for one in store.records.all_records() if one.cause.detail == "no\N{REPLACEMENT CHARACTER}"
        ]
        assert record.etag == "\N{REPLACEMENT CHARACTER}ä"


def test_each_kind_of_rows_has_an_example() -> None:
    assert rows_of_each_kind().keys() == {*OF_SOURCE, *OF_PROJECT}


@pytest.mark.parametrize("places", PATHS[:2], indirect=True)
def test_a_killed_copy_is_refused_by_crawls_and_begun_again(places: list[StorePlace]) -> None:
    origin, target = places[:2]
    _fill(origin)
    before = _all_rows(origin)
    child = os.fork()
    if not child:
        try:
            copy_stores(
                origin, target, lambda source, *_: source == "s" and os.kill(os.getpid(), signal.SIGKILL)
            )
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    definition = {
        "state": {**target.definition, "path": str(target.folder)},
        "sources": {"s": {"start_urls": ["http://h/"]}},
    }
    file = origin.folder.parent / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump(definition))
    project = require(read_definitions(file))
    for _ in range(2):
        with pytest.raises(StateError):
            open_state(project, "s")
    with pytest.raises(StateError):
        _copied(target, StorePlace("sqlite", origin.folder.parent / "third"))
    _copied(origin, target)
    open_state(project, "s").close()
    assert _all_rows(target) == before


VERBS_OF_STATE = (
    ["crawl"], ["crawl", "s"], ["status"], ["status", "s"], ["status", "h0"], ["urls"], ["stats", "s"], ["queue", "s"],
    ["plan", "s"], ["explain", "http://h0/3"], ["approve", "--list", "s"], ["approve", "s"], ["approve-deletions", "s"],
    ["approve-changes", "s"], ["pause", "s"], ["resume", "s"], ["stop", "s"], ["schedule", "list"],
    ["schedule", "show", "n"], ["schedule", "disable", "n"], ["remove", "s", "--yes"], ["rename", "s", "t", "--yes"],
    ["submit", "http://h0/3"], ["serve", "--port", "0"], ["index", "rebuild"],
    ["backup", "saved.tar"], ["store", "copy", "--to", "further"],
)  # fmt: skip


@pytest.mark.parametrize("places", PATHS[:2], indirect=True)
def test_no_verb_takes_an_unfinished_copy_for_a_state(places: list[StorePlace], workspace: Workspace) -> None:
    target = places[1]
    _fill(target)
    mark_unfinished(target.notes(), target.engine_name, UnfinishedCopy("/elsewhere", ["s"]))
    workspace.write(
        {
            "state": {**target.definition, "path": str(target.folder)},
            "sources": {"s": {"start_urls": ["http://h0/3"]}},
            "schedules": {"n": {"sources": ["s"], "every": "1 d"}},
        }
    )
    for words in VERBS_OF_STATE:
        ended = workspace.command(*words)
        assert (ended.code, ended.out, ended.err.count("/elsewhere")) == (1, "", 1), (words, ended)
    assert workspace.command("search", "apples").code == 0  # the index is no part of it


@pytest.mark.parametrize("places", PATHS[:2], indirect=True)
def test_what_is_crawled_or_scheduled_is_not_copied(places: list[StorePlace]) -> None:
    origin, target = places[:2]
    for one, other in ((origin, target), (target, origin)):
        with pytest.raises(UserError):
            _copied(one, other)
    _fill(origin)
    with closing(origin.engine.open_store(origin.folder, "s")), pytest.raises(UserError):
        _copied(origin, target)
    service = origin.engine.open_notes(origin.folder, "", NotesOf.SERVICE)
    assert service is not None
    for node in ("", "a"):
        with closing(RunnerRegistration(service, node)), pytest.raises(UserError):
            _copied(origin, target)
    with origin.transfer.exporting(origin.folder), pytest.raises(UserError):
        origin.engine.open_store(origin.folder, "s")
    assert target.named.stored_sources(target.folder) == []


@pytest.mark.parametrize("places", PATHS[:2], indirect=True)
def test_a_target_with_sources_is_left_as_it_is(places: list[StorePlace]) -> None:
    origin, target = places[:2]
    _fill(origin)
    target.engine.open_store(target.folder, "other").close()
    for refused in (origin, target):
        with pytest.raises(UserError):
            _copied(origin, refused)
    assert target.named.stored_sources(target.folder) == ["other"]


@pytest.mark.parametrize("places", PATHS[:2], indirect=True)
def test_the_definition_of_a_source_is_found_from_each_place(
    places: list[StorePlace], tmp_path: Path
) -> None:
    (tmp_path / "ultracrawl.yaml").write_text("")
    _fill(places[0])
    note_definition(places[0].notes("s"), places[0].folder, str(tmp_path / "ultracrawl.yaml"))
    for number, (origin, target) in enumerate(pairwise(places)):
        there = replace(target, folder=tmp_path / "a" / "b" / f"{number}")
        _copied(origin, there)
        folder = tmp_path if there.options else there.folder  # of a database, any machine has another one
        assert is_defined_elsewhere(there.notes("s"), folder, "")
        assert there.notes("empty").read(DEFINITION) is None


@pytest.mark.parametrize(
    ("typed", "engine", "rest"),
    [
        ("/a/b", "sqlite", "/a/b"),
        ("sqlite:/a/b", "sqlite", "/a/b"),
        ("sqlite:///a/b", "sqlite", "/a/b"),
        ("postgresql://u@h/d", "postgresql", {"url": "postgresql://u@h/d", "schema": "ultracrawl"}),
        (
            "postgresql://u@h:5/d?sslmode=require&schema=x&host=/run/pg",
            "postgresql",
            {"url": "postgresql://u@h:5/d?sslmode=require&host=/run/pg", "schema": "x"},
        ),
    ],
)
def test_a_place_is_one_word(typed: str, engine: str, rest: str | Mapping[str, str]) -> None:
    place = place_at(typed, None)
    assert (place.engine_name, place.options or str(place.folder)) == (engine, rest)
    assert place_at(str(place), None) == place


@pytest.mark.parametrize(
    "typed",
    [
        "mysql://u@h/d",
        "sqlite:",
        "postgresql://u:secret@h/d",
        "postgresql://h/d?schema=A",
        "postgresql://h/d?password=secret",
    ],
)
def test_a_place_that_cannot_be_is_refused(typed: str) -> None:
    with pytest.raises(UserError) as refused:
        place_at(typed, None)
    assert "secret" not in str(refused.value)


def test_the_password_is_that_of_the_definition(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_PASSWORD", "sesame")
    state = {"engine": "postgresql", "url": "postgresql://u@h/d", "password": "${STATE_PASSWORD}"}
    workspace.write({"state": state, "sources": {"s": {"start_urls": ["http://h/"]}}})
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    place = place_at("postgresql://u@h/d", project)
    assert place.options["password"] == "sesame"
    assert "sesame" not in f"{place} {place!r} {place.definition}"
    assert "password" not in place_at("postgresql://u@other/d", project).options


WAYS = [
    pytest.param(False, id="sqlite"),
    pytest.param(True, id="postgresql", marks=pytest.mark.servers),
]


@pytest.mark.parametrize("in_server", WAYS)
def test_the_next_crawl_goes_on_as_if_nothing_was_copied(
    workspace: Workspace,
    url: str,
    site: Site,
    in_server: bool,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    site.page("/", links=["/a", "/b", "/old", "/gone"])
    site.page("/a", text="about apples", links=["/b", "/c"])
    site.page("/b", text="about bees")
    site.page("/c", text="about bees")
    site.redirect("/old", "/a")
    workspace.define(f"{url}/")
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.crawl()
    seen = _shown(workspace)
    twin = tmp_path_factory.mktemp("twin")
    shutil.copytree(workspace.directory, twin, dirs_exist_ok=True)
    site.reset()
    expected = type(workspace)(twin).crawl().run["outcomes"]
    schema = a_schema(request.getfixturevalue("database")) if in_server else nullcontext({})
    with schema as options:
        first = f"{options['url']}?schema={options['schema']}" if options else "var/second"
        origin = None
        for target in (first, "sqlite:var/third"):
            words = ["--from", origin] if origin else []
            ended = workspace.command("store", "copy", *words, "--to", target, "--json")
            assert ended.code == 0, ended.err
            told = ended.json
            assert told["rows"] == sum(
                sum(rows.values()) for rows in (*told["sources"].values(), told["shared"])
            )
            assert told["sources"]["site"]["url"] == len(workspace.urls())
            workspace.write({**definition, "state": {"path": "var/state", **told["state"]}})
            assert _shown(workspace) == seen
            origin = target
        if in_server:  # and the crawl goes on in the server
            state = {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}
            workspace.write({**definition, "state": state})
        site.reset()
        run = workspace.crawl().run
        assert run["problems"] == []
        assert run["outcomes"] == expected
        assert expected["NOT_MODIFIED"]


def _shown(workspace: Workspace) -> list[Any]:
    status = workspace.command("status", "--json").json
    for row in status["sources"]:
        del row["nodes"]  # one machine has none, servers have those that live
    return [
        json.loads(json.dumps(status)),
        workspace.urls(),
        workspace.command("queue", "site", "--json").out,
        workspace.command("schedule", "status", "--json").out,
    ]
