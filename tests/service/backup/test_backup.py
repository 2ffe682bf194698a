"""What was saved is there again: state and index are equal, and the next crawl goes on."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from service.backup.conftest import move
from support.project import ROOT, Workspace
from support.same_index import index_differences
from support.sentences import sentence
from support.site import Site
from support.until import until
from whoosh.fields import Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC

from ultracrawl.index.locking import LOCKS, write_lock
from ultracrawl.service.backup.saving import _locked_folder
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import service_notes
from ultracrawl.stores.runner_registry import RunnerRegistration
from ultracrawl.system.replacement import DRAFT


def tables(workspace: Workspace) -> dict[str, list[str]]:
    """Return all rows of all databases of a project."""
    found = {}
    for path in sorted((workspace.directory / "var").rglob("*.sqlite")):
        with closing(sqlite3.connect(path)) as db:
            found[str(path.relative_to(workspace.directory))] = list(db.iterdump())
    return found


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_state_and_index_are_equal_after_a_restore(
    workspace: Workspace, elsewhere: Workspace, url: str, site: Site, engine: str
) -> None:
    workspace.define(f"{url}/", storage={"keep": True})
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({**definition, "index": {"engine": engine}})
    workspace.crawl()
    before = tables(workspace)
    move(workspace, elsewhere)
    assert tables(elsewhere) == before == tables(workspace)
    assert len(before) == 3, "the source, the sites, the stored answers"
    assert index_differences(workspace, elsewhere) == []
    site.reset()
    run = elsewhere.crawl().run
    assert (run["outcomes"], run["problems"], run["indexed"]) == ({"NOT_MODIFIED": 21}, [], 0)


@pytest.mark.parametrize("engine", ["whoosh", "opensearch"])
def test_an_index_on_servers_is_named_as_missing(tmp_path: Path, engine: str) -> None:
    workspace = Workspace(tmp_path)
    index = {"engine": engine, **({"url": "http://127.0.0.1:9"} if engine == "opensearch" else {})}
    workspace.write({"index": index, "sources": {"site": {"start_urls": ["http://lake.example/"]}}})
    saved = workspace.command("backup", "saved.tar", "--json")
    missing = ["default"] if engine == "opensearch" else []
    assert (saved.code, saved.json["not_saved"]) == (0, missing)
    told = workspace.command("backup", "saved.tar", "--force")
    assert len(told.out.splitlines()) == 1 + len(missing)


class Code(Schema):
    """A schema that makes a folder where it is unpickled."""

    made: Path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.made),)


def test_an_archive_whose_index_contains_code_is_refused(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    Code.made = workspace.directory / "made"
    folder = workspace.directory / "var" / "index"
    TOC(Code(), [], 99).write(FileStorage(str(folder)), "MAIN")
    archive = workspace.directory.parent / "saved.tgz"
    assert workspace.command("backup", str(archive)).code == 0
    shutil.copy(workspace.directory / "ultracrawl.yaml", elsewhere.directory)
    restored = elsewhere.command("restore", str(archive))
    assert (restored.code, "mkdir" in restored.err) == (2, True)
    assert not Code.made.exists()
    assert not list((elsewhere.directory / "var").rglob("*.sqlite"))


@pytest.mark.processes
def test_a_restore_does_not_need_the_engine_of_the_index(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({**definition, "index": {"engine": "tantivy"}})
    workspace.crawl()
    archive = workspace.directory.parent / "saved.tgz"
    assert workspace.command("backup", str(archive)).code == 0
    shutil.copy(workspace.directory / "ultracrawl.yaml", elsewhere.directory)
    hiding = workspace.directory / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text("import sys\nsys.modules['tantivy'] = None\n")
    restored = elsewhere.command("restore", str(archive), PYTHONPATH=f"{hiding}:{ROOT}")
    assert (restored.code, restored.err) == (0, "")
    assert tables(elsewhere) == tables(workspace)


def test_an_archive_is_for_its_owner_and_replaced_by_force_alone(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    assert archive.stat().st_mode & 0o777 == 0o600
    again = workspace.command("backup", str(archive))
    assert (again.code, "exists already" in again.err) == (2, True)
    assert workspace.command("backup", str(archive), "--force").code == 0
    assert sorted(path.name for path in archive.parent.iterdir()) == ["elsewhere", "here", "saved.tgz"]


def test_what_is_there_is_replaced_by_force_alone(
    workspace: Workspace, elsewhere: Workspace, url: str, site: Site
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    site.page("/new", title="New")
    site.page("/", title="Start", links=["/new"])
    elsewhere.crawl()
    assert "/new" in elsewhere.indexed()
    refused = elsewhere.command("restore", str(archive))
    assert (refused.code, "contains data already" in refused.err) == (2, True)
    refused = elsewhere.command("restore", f"{archive}.old")
    assert (refused.code, "there is no file" in refused.err) == (2, True)
    assert "/new" in elsewhere.indexed()
    assert elsewhere.command("restore", str(archive), "--force").code == 0
    assert index_differences(workspace, elsewhere) == []
    assert sorted(path.name for path in (elsewhere.directory / "var").iterdir()) == [
        "cache", "documents", "index", "log", "state",
    ]  # fmt: skip


def test_all_folders_are_replaced_or_none(
    workspace: Workspace, elsewhere: Workspace, url: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    site.page("/", title="Start", links=["/new"])
    site.page("/new", title="New")
    elsewhere.crawl()
    before = tables(elsewhere)
    rename = Path.rename

    def full(path: Path, target: Path) -> Path:
        if target.parent.name == "index" and path.parent.name == DRAFT:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", full)
        refused = elsewhere.command("restore", str(archive), "--force")
    assert (refused.code, "No space" in refused.err) == (1, True)
    assert tables(elsewhere) == before
    assert "/new" in elsewhere.indexed()
    assert not [one for one in (elsewhere.directory / "var").rglob("*") if one.name.startswith(".")]


def test_what_killed_backups_left_is_deleted_by_the_next(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    folder = workspace.directory.parent
    left, used = folder / ".ultracrawl-backup-left", folder / ".ultracrawl-backup-used"
    for one in (left, used):
        one.mkdir()
        (one / "saved.tgz").write_text("half of it")
    with _locked_folder(used):
        move(workspace, elsewhere)
    assert (left.exists(), used.exists()) == (False, True)


def test_a_definition_that_names_files_is_the_same_in_another_folder(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    for folder in (workspace.directory, elsewhere.directory):
        (folder / "synonyms.txt").write_text("car, automobile\n")
        (folder / "hosts.txt").write_text("a.example b.example\n")
    source = {"start_urls": [f"{url}/"], "sites": {"alias_files": ["hosts.txt"]}}
    workspace.write({"search": {"synonyms": "synonyms.txt"}, "sources": {"site": source}})
    workspace.crawl()
    move(workspace, elsewhere)


def test_another_definition_is_reported(workspace: Workspace, elsewhere: Workspace, url: str) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    elsewhere.define(f"{url}/", depth=1)
    told = elsewhere.command("restore", str(archive), "--force")
    assert (told.code, sentence("backup.changed_since") in told.out) == (0, True)


@pytest.mark.processes
def test_a_backup_of_a_running_crawl_loses_nothing(
    workspace: Workspace, elsewhere: Workspace, url: str, site: Site
) -> None:
    released = site.hold("/7")
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 2})
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({**definition, "cache": {"size": "1 kB"}})
    crawl = workspace.start("crawl", "--json")
    until(lambda: site.count("/19") == 1)
    move(workspace, elsewhere)
    assert crawl.poll() is None, "it was saved while it was crawled"
    released.set()
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    assert elsewhere.crawl().run["problems"] == []
    assert index_differences(workspace, elsewhere) == []
    assert elsewhere.indexed() == sorted(["/", *(f"/{number}" for number in range(20))])


@pytest.mark.processes
def test_nothing_is_restored_while_a_source_is_crawled(
    workspace: Workspace, elsewhere: Workspace, url: str, site: Site
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    site.page("/7", title="Seven")
    released = site.hold("/7")
    crawl = workspace.start("crawl")
    until(lambda: site.count("/7") == 2)
    refused = workspace.command("restore", str(archive), "--force")
    released.set()
    crawl.communicate(timeout=60)
    assert (refused.code, "being crawled" in refused.err) == (2, True)


def test_nothing_is_restored_while_a_service_keeps_the_project(
    workspace: Workspace, elsewhere: Workspace, url: str
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    archive = move(workspace, elsewhere)
    notes = service_notes(require(read_definitions(elsewhere.directory / "ultracrawl.yaml")))
    assert notes is not None
    badge = RunnerRegistration(notes)
    badge.claim([], [])
    refused = elsewhere.command("restore", str(archive), "--force")
    badge.close()
    assert (refused.code, sentence("backup.stop_before_restore") in refused.err) == (2, True)
    assert elsewhere.command("restore", str(archive), "--force").code == 0


def test_a_backup_waits_for_who_writes_to_the_index(
    workspace: Workspace, elsewhere: Workspace, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.define(f"{url}/")
    workspace.crawl()
    monkeypatch.setattr("ultracrawl.service.backup.saving.LOCK_SECONDS", 0.1)
    index = workspace.directory / "var" / "index"
    (name,) = (one for one in LOCKS if (index / one).exists())
    archive = workspace.directory.parent / "saved.tgz"
    with write_lock(index, 1.0, name):
        refused = workspace.command("backup", str(archive))
    assert (refused.code, "locked" in refused.err) == (1, True)
    assert not archive.exists()
    assert [path for path in archive.parent.iterdir() if path.name.startswith((".", "saved"))] == []
