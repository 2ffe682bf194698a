"""What was saved of a state in a database is there again, and the next crawl goes on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from support.postgresql import postgresql_server
from support.project import Workspace
from support.site import Site
from support.until import PATIENCE, until

from ultracrawl.errors import UserError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.stores import QueueEntry
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.saving import CONTENTS

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgresql_server() as url:
        yield url


@pytest.fixture
def schema(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"of_{abs(hash(request.node.nodeid))}"
    yield name
    ask(server, f"DROP SCHEMA IF EXISTS {name} CASCADE")


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as db:
        cursor = db.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def define(workspace: Workspace, url: str, server: str, schema: str) -> None:
    workspace.define(f"{url}/", politeness={"delay": 0.05, "concurrency": 1})
    file = workspace.directory / "ultracrawl.yaml"
    state = {"engine": "postgresql", "url": server, "schema_name": schema}
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "state": state}))


def shown(workspace: Workspace) -> list[object]:
    status = workspace.command("status", "--json").json
    return [status, workspace.urls(), workspace.command("queue", "site", "--json").out, workspace.indexed()]


def lose(workspace: Workspace, server: str, schema: str) -> None:
    ask(server, f"DROP SCHEMA {schema} CASCADE")
    shutil.rmtree(workspace.directory / "var")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "saved.tgz"


def test_a_project_is_as_it_was_and_its_next_crawl_goes_on(
    workspace: Workspace, url: str, site: Site, server: str, schema: str, archive: Path
) -> None:
    define(workspace, url, server, schema)
    workspace.crawl()
    before = shown(workspace)
    saved = workspace.command("backup", str(archive), "--json")
    assert saved.code == 0, saved.err
    site.page("/1", text="it has changed")
    site.page("/", links=["/1", "/new"])
    site.page("/new", text="it is new")
    expected = workspace.crawl().run["outcomes"]
    after = workspace.urls()
    lose(workspace, server, schema)
    restored = workspace.command("restore", str(archive), "--json")
    assert restored.code == 0, restored.err
    assert restored.json["restored"] == saved.json["saved"]
    assert shown(workspace) == before
    assert workspace.crawl().run["outcomes"] == expected
    assert workspace.urls().keys() == after.keys()
    refused = workspace.command("restore", str(archive))
    assert refused.code == 2
    assert workspace.command("restore", str(archive), "--force").code == 0
    assert shown(workspace) == before


def test_a_crawl_that_was_saved_on_its_way_is_resumed(
    workspace: Workspace, url: str, site: Site, server: str, schema: str, archive: Path
) -> None:
    define(workspace, url, server, schema)
    held = site.hold("/9")
    crawl = workspace.start("crawl", "--json")
    until(lambda: site.count("/9"), crawl)
    assert workspace.command("backup", str(archive)).code == 0
    held.set()
    crawl.communicate(timeout=PATIENCE)
    assert crawl.returncode == 0
    expected = workspace.outcomes()
    lose(workspace, server, schema)
    assert workspace.command("restore", str(archive)).code == 0
    site.reset()
    run = workspace.crawl().run
    assert run["resumed"]
    assert {path for path, row in workspace.urls().items() if row["indexed"]} == {*expected}
    assert workspace.indexed() == sorted(expected)


def test_an_archive_of_files_and_one_of_a_database_are_not_mixed_up(
    workspace: Workspace, elsewhere: Workspace, url: str, server: str, schema: str, archive: Path
) -> None:
    define(workspace, url, server, schema)
    elsewhere.define(f"{url}/")
    other = archive.with_name("other.tgz")
    for one, saved in ((workspace, archive), (elsewhere, other)):
        one.crawl()
        assert one.command("backup", str(saved)).code == 0
    before = shown(workspace), shown(elsewhere)
    for one, saved in ((workspace, other), (elsewhere, archive)):
        assert one.command("restore", str(saved), "--force").code == 2
    assert (shown(workspace), shown(elsewhere)) == before
    with tarfile.open(archive) as tar:
        assert not [name for name in tar.getnames() if "site.sqlite" in name]


class Saved:
    """A state of one source that was saved, and the engine it is restored by."""

    def __init__(self, options: dict[str, str], folder: Path) -> None:
        self.engine, self.saved = PostgresEngine(options), folder / "saved"
        self.know("s", 1)
        self.engine.save_stores(folder, self.saved)

    def know(self, source: str, number: int) -> None:
        """Have a source know one more URL, as a crawl of its own does."""
        with closing(self.engine.open_store(Path(), source)) as store:
            entry = QueueEntry(number, f"http://h/{number}", "h", 0, store.queue.next_seq())
            store.records.discover_url(entry, 1.0)

    def known(self) -> dict[str, int]:
        """Return the number of URLs by source."""
        found = {}
        for source in self.engine.stored_sources(Path()):
            with closing(self.engine.open_store(Path(), source, read_only=True)) as store:
                found[source] = store.records.count_urls().known
        return found


@pytest.fixture
def saved(server: str, schema: str, tmp_path: Path) -> Saved:
    return Saved({"url": server, "schema": schema}, tmp_path)


def test_a_restore_that_fails_changes_nothing(saved: Saved) -> None:
    saved.know("s", 2)

    def restore(*, force: bool = True) -> None:
        with saved.engine.restoring_stores(Path(), saved.saved, force=force):
            raise UserError("the folders cannot be replaced")

    for force in (True, False):
        with pytest.raises(UserError):
            restore(force=force)
    contents = saved.saved / CONTENTS
    told = json.loads(contents.read_text())
    for changed in ({**told, "version": told["version"] + 1}, {**told, "tables": {"url": ["unknown"]}}):
        contents.write_text(json.dumps(changed))
        with pytest.raises(UserError), saved.engine.restoring_stores(Path(), saved.saved, force=True):
            pass
    assert saved.known() == {"s": 2}


def test_what_an_earlier_version_saved_gets_the_later_columns_and_tables(saved: Saved) -> None:
    contents = saved.saved / CONTENTS
    told = json.loads(contents.read_text())
    tables = {
        name: columns for name, columns in told["tables"].items() if name in ("source", "part", "host", "url")
    }
    url = saved.saved / "url.copy"
    last = tables["url"].index("preference")
    del tables["url"][last]
    rows = [line.split(b"\t") for line in url.read_bytes().splitlines()]
    url.write_bytes(b"".join(b"\t".join(row[:last] + row[last + 1 :]) + b"\n" for row in rows))
    contents.write_text(json.dumps({"version": told["version"] - 1, "tables": tables}))
    saved.know("t", 1)
    with saved.engine.restoring_stores(Path(), saved.saved, force=True):
        pass
    assert saved.known() == {"s": 1}
    with closing(saved.engine.open_store(Path(), "s")) as store:
        assert next(iter(store.records.all_records())).preference == 1
        assert store.next_epoch() > 1


def test_numbers_are_counted_on_from_the_restored_rows(saved: Saved) -> None:
    saved.know("t", 1)
    saved.know("u", 1)
    with saved.engine.restoring_stores(Path(), saved.saved, force=True):
        pass
    assert saved.known() == {"s": 1}
    for source in ("s", "t", "u"):
        saved.know(source, 3)
    assert saved.known() == {"s": 2, "t": 1, "u": 1}


def test_a_state_that_was_never_crawled_is_saved_as_none(server: str, schema: str, tmp_path: Path) -> None:
    engine = PostgresEngine({"url": server, "schema": schema})
    engine.save_stores(Path(), tmp_path / "saved")
    assert ask(server, f"SELECT to_regnamespace('{schema}') IS NULL") == [(True,)]
    with engine.restoring_stores(Path(), tmp_path / "saved"):
        pass
    assert engine.stored_sources(Path()) == []


KILLED = """
import os
from ultracrawl.cli.main import main
from ultracrawl.system.replacement import Replacement
commit = Replacement.commit

def commit_and_die(self):
    commit(self)
    os._exit(9)

Replacement.commit = commit_and_die
main()
"""
"""A command that is killed when the folders are in place, and the rows are not yet."""


def restore_killed(workspace: Workspace, archive: Path, *words: str) -> None:
    command = [sys.executable, "-c", KILLED, "restore", str(archive), *words]
    ended = subprocess.run(command, cwd=workspace.directory, capture_output=True, timeout=120, check=False)
    assert ended.returncode == 9, ended.stderr


def test_a_restore_that_was_killed_before_its_rows_were_there_goes_on(
    workspace: Workspace, url: str, site: Site, server: str, schema: str, archive: Path
) -> None:
    define(workspace, url, server, schema)
    workspace.crawl()
    TokenStore(workspace.directory / "var/state/service/tokens.json").create_token("portal", Role.READER)
    assert workspace.command("backup", str(archive)).code == 0
    before = shown(workspace)
    site.page("/", links=["/1"])
    workspace.crawl()
    other = archive.with_name("other.tgz")
    assert workspace.command("backup", str(other)).code == 0
    lose(workspace, server, schema)
    restore_killed(workspace, archive)
    assert workspace.command("restore", str(other)).code == 2, "it is not what was being restored"
    restored = workspace.command("restore", str(archive), "--json")
    assert restored.code == 0, restored.err
    assert restored.json["tokens"] == "restored"
    assert shown(workspace) == before
    assert workspace.command("restore", str(archive)).code == 2, "it is whole"
    restore_killed(workspace, archive, "--force")
    assert workspace.command("restore", str(archive)).code == 2, (
        "the database has sources that nobody gave up"
    )
    assert workspace.command("restore", str(archive), "--force").code == 0
    assert shown(workspace) == before
