"""`ultracrawl remove` and `rename`: everything that is stored of a source, also after a kill in between."""

from __future__ import annotations

import fcntl
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from run.source_data.test_first_steps import ENGINES, found, names_of, source_of
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.model import ScheduleStatus
from ultracrawl.run import source_data
from ultracrawl.run.source_data import places, removing, renaming
from ultracrawl.run.source_data.removing import remove_source
from ultracrawl.run.source_data.renaming import rename_source
from ultracrawl.settings.projects import find_project
from ultracrawl.sources import Project
from ultracrawl.stores.file_notes import FileNotes
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleCommand,
    ScheduleOrder,
    ScheduleRun,
    own_key,
)
from ultracrawl.stores.project_stores import open_schedules, service_notes
from ultracrawl.stores.runner_registry import RunnerRegistration


class KilledError(BaseException):
    """Stands for the death of the process."""


@pytest.fixture
def pages(site: Site) -> Site:
    site.page("/", title="Home", text="heron home", links=["/a", "/b"])
    site.page("/a", title="A", text="heron a")
    site.page("/b", title="B", text="heron b")
    return site


def define(workspace: Workspace, url: str, *names: str, engine: str = "whoosh", **options: Any) -> None:
    own = {key: options.pop(key) for key in ("destinations", "indexes", "schedules") if key in options}
    source = {**source_of(url), **options}
    workspace.write({"index": {"engine": engine}, **own, "sources": {name: dict(source) for name in names}})


def project_of(workspace: Workspace) -> Project:
    return find_project(str(workspace.directory / "ultracrawl.yaml"))[0]


def stored(workspace: Workspace, name: str) -> list[str]:
    """Return the paths of files of a source below var, but for its empty lock files."""
    folder = workspace.directory / "var"
    paths = [str(path.relative_to(folder)) for path in folder.rglob("*") if name in path.name]
    return sorted(path for path in paths if not path.endswith(".lock"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_that_no_file_defines_is_reported_and_left_out_and_removed(
    pages: Site, url: str, workspace: Workspace, engine: str
) -> None:
    define(workspace, url, "members", engine=engine, storage={"keep": True}, log={"fetch": True})
    workspace.crawl()
    define(workspace, f"{url}/other", "pg", engine=engine)
    assert found(workspace, "heron") == []
    assert workspace.command("search", "hreon", "--json").json["suggestion"] == ""
    assert workspace.command("search", "--complete", "ho", "--json").json["completions"] == []
    told = workspace.command("status").out
    assert "left over: members: " in told
    assert "its 3 documents" in told
    assert "`ultracrawl remove members`" in told
    assert "ultracrawl remove members" in workspace.command("index", "info").out
    assert "ultracrawl remove members" in workspace.command("index", "rebuild").out
    assert names_of(workspace) == {"members": 3}, "a rebuild keeps what it can read"
    ended = workspace.command("remove", "members", "--yes", "--json")
    assert ended.json == {"source": "members", "documents": 3, "urls": 3, "defined": False}
    assert names_of(workspace) == {}
    assert stored(workspace, "members") == []
    assert workspace.command("status", "--json").json["left_over"] == []


def test_a_source_that_is_still_defined_starts_anew(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    assert sentence("sources.starts_anew") in workspace.command("remove", "members", "--yes").out
    assert workspace.crawl().run["outcomes"] == {"NEW": 3}


def test_a_question_needs_somebody_who_answers(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    for words in (("remove", "members"), ("rename", "members", "others")):
        ended = workspace.command(*words)
        assert (ended.code, "--yes" in ended.err) == (2, True)
    assert names_of(workspace) == {"members": 3}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_url_is_removed_from_each_source_that_knows_it(
    pages: Site, url: str, workspace: Workspace, engine: str
) -> None:
    define(workspace, url, "members", "others", engine=engine)
    workspace.crawl()
    asked = workspace.command("remove", f"{url}/a")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert names_of(workspace) == {"members": 3, "others": 3}
    ended = workspace.command("remove", f"{url}/a", "--yes", "--json")
    assert ended.code == 0
    assert [(one["source"], one["removed"], one["deleted"]) for one in ended.lines] == [
        ("members", 1, 1),
        ("others", 1, 1),
    ]
    workspace.crawl("--force")
    assert names_of(workspace) == {"members": 2, "others": 2}, "no crawl brings it back"
    for unknown in (f"{url}/a", f"{url}/nothing"):
        assert workspace.command("remove", unknown, "--yes").code == 2
    workspace.command("approve", "members", "--restore", f"{url}/a")
    workspace.crawl()
    assert names_of(workspace) == {"members": 3, "others": 2}


@pytest.mark.parametrize("verb", [("remove", "membres"), ("rename", "membres", "x")])
def test_an_unknown_name_is_a_mistake(
    pages: Site, url: str, workspace: Workspace, verb: tuple[str, ...]
) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    ended = workspace.command(*verb, "--yes")
    assert ended.code == 2
    assert "members" in ended.err
    assert stored(workspace, "membres") == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_that_was_renamed_in_the_file_goes_on(
    pages: Site, url: str, workspace: Workspace, engine: str
) -> None:
    define(workspace, url, "members", engine=engine, storage={"keep": True}, log={"fetch": True})
    workspace.crawl()
    define(workspace, url, "mitglieder", engine=engine, storage={"keep": True}, log={"fetch": True})
    advice = "`ultracrawl rename members mitglieder`"
    assert advice in workspace.command("status").out
    assert advice in workspace.command("lint").out
    ended = workspace.command("rename", "members", "mitglieder", "--yes", "--json")
    assert ended.json == {"source": "members", "name": "mitglieder", "documents": 3}
    assert found(workspace, "heron") == ["/", "/a", "/b"]
    for _ in range(2):
        assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 3}
    assert workspace.command("reindex", "mitglieder", "--json").code == 0
    assert names_of(workspace) == {"mitglieder": 3}
    assert stored(workspace, "members") == []
    assert workspace.command("index", "check").code == 0


def test_a_name_that_has_data_of_its_own_is_not_taken(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "one", "two")
    workspace.crawl()
    ended = workspace.command("rename", "one", "two", "--yes")
    assert ended.code == 2
    assert "`ultracrawl remove one`" in ended.err
    assert names_of(workspace) == {"one": 3, "two": 3}
    for name in ("a/b", "", "-x", "one"):
        assert workspace.command("rename", "--yes", "--", "one", name).code == 2


@pytest.mark.parametrize("verb", [("remove",), ("rename", "others")])
def test_what_is_being_crawled_stays(
    pages: Site, url: str, workspace: Workspace, verb: tuple[str, ...]
) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    words = (verb[0], "members", *verb[1:], "--yes")
    with (workspace.directory / "var" / "state" / "members.sqlite.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = workspace.command(*words)
        assert ended.code == 2
        assert "being crawled" in ended.err
    notes = service_notes(project_of(workspace))
    assert notes is not None
    with closing(RunnerRegistration(notes)) as service:
        assert service.claim((), ("members",)) is None
        ended = workspace.command(*words)
        assert ended.code == 2
        assert "stop it" in ended.err
    assert names_of(workspace) == {"members": 3}
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 3}


def all_steps(monkeypatch: pytest.MonkeyPatch, at: int) -> Callable[[], bool]:
    """Kill the process before the step of this number; returns whether that step was reached."""
    calls = iter(range(1000))
    reached = []

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **options: Any) -> Any:
            if next(calls) == at:
                reached.append(at)
                raise KilledError
            return function(*words, **options)

        return call

    for module, names in (
        (places, ("_delete", "_rename_rows", "_move_notes")),
        (removing, ("remove_documents", "delete_places", "forget_adhoc_source", "remove_state")),
        (source_data, ("rename_documents", "rename_places")),
        (renaming, ("forget_adhoc_source",)),
        (FileNotes, ("write", "delete")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, counted(getattr(module, name)))
    return lambda: bool(reached)


@pytest.mark.parametrize("way", ["remove", "rename", "crawl"])
def test_after_a_kill_the_next_call_finishes(
    pages: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, way: str, tmp_path: Path
) -> None:
    new = "members" if way == "remove" else "mitglieder"
    kept = tmp_path / "kept"
    define(workspace, url, "members", storage={"keep": True})
    workspace.crawl()
    define(workspace, url, new, storage={"keep": True})
    shutil.copytree(workspace.directory / "var", kept)
    for at in range(100):
        shutil.rmtree(workspace.directory / "var")
        shutil.copytree(kept, workspace.directory / "var")
        with monkeypatch.context() as patched:
            reached = all_steps(patched, at)
            try:
                if way == "remove":
                    remove_source(project_of(workspace), "members")
                else:
                    rename_source(project_of(workspace), "members", new)
            except KilledError:
                pass
        if not reached():
            break
        if way == "remove":
            remove_source(project_of(workspace), "members")
            assert (names_of(workspace), stored(workspace, "members")) == ({}, [])
            continue
        if way == "rename":
            rename_source(project_of(workspace), "members", new)
            assert names_of(workspace) == {new: 3}
        assert workspace.crawl().run["outcomes"] in ({"NOT_MODIFIED": 3}, {"NEW": 3})
        assert found(workspace, "heron") == ["/", "/a", "/b"]
        left = workspace.command("status", "--json").json["left_over"]
        assert [one["source"] for one in left] in ([], ["members"])
    assert at > 4


def exported(workspace: Workspace) -> dict[tuple[str, str], str]:
    """Return the last change of each document in the destination, by source and path: what was done with it."""
    last = {}
    for line in (workspace.directory / "export.jsonl").read_text().splitlines():
        change = json.loads(line)
        last[change["source"], "/" + change["url"].split("/", 3)[3]] = change["action"]
    return last


@pytest.mark.parametrize("fed", [["export"], ["default", "export"]], ids=["alone", "beside the index"])
def test_destinations_get_the_changes_too(
    pages: Site, url: str, workspace: Workspace, fed: list[str]
) -> None:
    feeding = {
        "destinations": {
            f"to-{name}": {"destination": name} if name == "export" else {"index": name} for name in fed
        }
    }
    options = {
        "destinations": {"export": {"type": "jsonl", "path": "export.jsonl"}},
        "feeding": feeding,
    }
    define(workspace, url, "members", **options)
    workspace.crawl()
    paths = ["/", "/a", "/b"]
    define(workspace, url, "mitglieder", **options)
    assert workspace.command("rename", "members", "mitglieder", "--yes").code == 0
    workspace.crawl()
    expected = {("members", path): "delete" for path in paths}
    assert exported(workspace) == expected | {("mitglieder", path): "put" for path in paths}
    define(workspace, f"{url}/other", "pg", **options)
    assert workspace.command("remove", "mitglieder", "--yes").code == 0
    assert exported(workspace) == expected | {("mitglieder", path): "delete" for path in paths}


def test_a_destination_that_takes_nothing_keeps_the_source(
    pages: Site, url: str, workspace: Workspace
) -> None:
    options = {
        "destinations": {"export": {"type": "jsonl", "path": "out/export.jsonl"}},
        "feeding": {"destinations": {"index": {"index": "default"}, "export": {"destination": "export"}}},
    }
    define(workspace, url, "members", **options)
    workspace.crawl()
    folder = workspace.directory / "out"
    shutil.rmtree(folder)
    folder.write_text("no folder")
    ended = workspace.command("remove", "members", "--yes")
    assert ended.code == 1
    assert sentence("destinations.deletions_not_taken") in ended.err
    folder.unlink()
    assert workspace.command("remove", "members", "--yes").code == 0
    lines = (folder / "export.jsonl").read_text().splitlines()
    assert [json.loads(line)["action"] for line in lines] == ["delete"] * 6
    assert stored(workspace, "members") == []


def test_what_waits_for_approval_has_the_new_name(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "members", crawling_mode="examine")
    workspace.crawl()
    define(workspace, url, "mitglieder", crawling_mode="examine")
    workspace.command("rename", "members", "mitglieder", "--yes")
    assert workspace.command("approve", "mitglieder", "--json").json["indexed"] == 3
    assert names_of(workspace) == {"mitglieder": 3}
    define(workspace, f"{url}/other", "pg")
    workspace.command("remove", "mitglieder", "--yes")
    assert names_of(workspace) == {}


def test_former_indexes_are_not_forgotten(pages: Site, url: str, workspace: Workspace) -> None:
    indexes = {"archive": {"path": "var/archive"}}
    both = {"destinations": {"main": {"index": "default"}, "copy": {"index": "archive"}}}
    define(workspace, url, "members", indexes=indexes, feeding=both)
    workspace.crawl()
    define(workspace, f"{url}/other", "pg", indexes=indexes)
    workspace.command("remove", "members", "--yes")
    for words in ((), ("--index", "archive")):
        assert workspace.command("index", "info", "--json", *words).json["documents"] == 0


def test_what_other_projects_put_into_the_index_stays(
    pages: Site, url: str, workspace: Workspace, tmp_path: Path
) -> None:
    other = type(workspace)(tmp_path / "second")
    other.directory.mkdir()
    define(workspace, url, "mine", "old")
    workspace.crawl()
    shared = str(workspace.directory / "var" / "index")
    other.write({"index": shared, "sources": {"theirs": source_of(url)}})
    other.crawl()
    define(workspace, url, "mine")
    for one in (workspace, other):
        assert found(one, "heron") == ["/", "/a", "/b"]
    hits = {hit["source"] for hit in other.command("search", "heron", "--json").json["hits"]}
    assert hits <= {"theirs", "mine", "old"}, "what is left over there is known there"
    workspace.command("remove", "old", "--yes")
    assert names_of(workspace) == {"mine": 3, "theirs": 3}
    assert found(workspace, "heron", "--source", "mine") == ["/", "/a", "/b"]


def test_rows_of_schedules_follow_the_name(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    project = project_of(workspace)
    order = ScheduleOrder("members", ScheduleCommand.LAUNCH, of_source=True)
    with closing(open_schedules(project)) as store:
        store.set_paused("members", paused=True)
        store.leave_order(order, 1.0)
        run = ScheduleRun(1.0, 2.0, ScheduleStatus.SCHEDULED, sources={"members": "", "x": "why"})
        store.put_schedule(KeptSchedule("nightly", left=("members", "x")), run)
        store.put_schedule(KeptSchedule(own_key("members"), due=5.0))
    rename_source(project, "members", "mitglieder")
    with closing(open_schedules(project)) as store:
        assert store.paused_sources() == {"mitglieder"}
        assert not store.has_order(order)
        nightly, own = store.get_schedule("nightly"), store.get_schedule(own_key("mitglieder"))
        assert nightly is not None
        assert nightly.left == ("mitglieder", "x")
        assert own is not None
        assert own.due == 5.0
        assert store.get_schedule(own_key("members")) is None
        assert store.runs("nightly", 5)[0].sources == {"mitglieder": "", "x": "why"}
    remove_source(project, "mitglieder")
    with closing(open_schedules(project)) as store:
        assert store.paused_sources() == frozenset()
        nightly = store.get_schedule("nightly")
        assert nightly is not None
        assert nightly.left == ("x",)
        assert store.get_schedule(own_key("mitglieder")) is None


def test_leases_of_a_killed_crawl_end(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    file = workspace.directory / "var" / "state" / "sites" / "sites.sqlite"
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO crawl (id, source, machine, pid, until) VALUES (77, 'members', 'm', 1, 9e9)")
        db.execute("UPDATE site SET crawl=77")
    workspace.command("remove", "members", "--yes")
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT count(*) FROM site WHERE crawl<>0").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM crawl").fetchone() == (0,)


def test_a_damaged_state_is_removed_too(pages: Site, url: str, workspace: Workspace) -> None:
    define(workspace, url, "members")
    workspace.crawl()
    (workspace.directory / "var" / "state" / "members.sqlite").write_bytes(b"no database" * 1000)
    define(workspace, f"{url}/other", "pg")
    assert workspace.command("remove", "members", "--yes").code == 0
    assert names_of(workspace) == {}


def test_logs_of_sources_with_a_common_beginning_are_distinguished(tmp_path: Path) -> None:
    from ultracrawl.sources import adhoc_project

    project = adhoc_project(["http://docs/"], tmp_path)
    logs = project.logs.path
    logs.mkdir(parents=True)
    mine = [
        "docs.fetch.log",
        "docs.fetch.log.1",
        "docs.fetch.2026-11-24.log",
        "docs.screened.jsonl",
        "docs.run-20261124-1440.log",
        "docs.run-20261124-1440-2.log",
    ]
    others = [
        "docs.example.fetch.log",
        "docs.example.fetch.2026-11-24.log",
        "mydocs.fetch.log",
        "docs.example.run-20261124-1440.log",
    ]
    for name in (*mine, *others):
        (logs / name).touch()
    places.rename_places(project, "docs", "new")
    expected = [*others, *(name.replace("docs", "new") for name in mine)]
    assert sorted(path.name for path in logs.iterdir()) == sorted(expected)
    places.delete_places(project, "new")
    assert sorted(path.name for path in logs.iterdir()) == sorted(others)


@pytest.mark.parametrize("step", ["rename_documents", "rename_places"])
def test_a_take_over_that_was_killed_is_finished_without_fetching_anything(
    pages: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    workspace.crawl("--url", f"{url}/", "--delay", "0")
    define(workspace, url, "pg")
    project = project_of(workspace)
    (adhoc,) = project.adhoc_sources

    def die(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(source_data, step, die)
        with pytest.raises(KilledError):
            rename_source(project, adhoc, "pg")
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 3}
    assert f"of {adhoc}" in "".join(run["remarks"])
    assert names_of(workspace) == {"pg": 3}
    assert not (workspace.directory / "var" / "adhoc.yaml").exists()
