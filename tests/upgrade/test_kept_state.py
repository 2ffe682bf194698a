"""What the program of an earlier commit has left is opened, gone on with, and restored, row by row."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from stores.conftest import a_schema
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import Workspace

from upgrade.kept_state import (
    HOST,
    PORT,
    Rows,
    all_rows,
    as_earlier,
    define,
    fill,
    place_in,
    unpacked,
    write_tables,
)

ENGINES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)]
INDEXED = 11
"""Pages of the site that are no copies."""
_schemas = count()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def unpacked_state(engine: str, tmp_path: Path) -> tuple[Path, dict[str, Rows]]:
    return unpacked(engine, tmp_path)


def _opened(left: Path, engine: str, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """Give a project whose state is what an earlier program left in a folder, or in tables of its own."""
    workspace = InProcessWorkspace(left)
    if engine != "postgresql":
        define(workspace, {"engine": engine})
        yield workspace
        return
    import psycopg

    url, schema = request.getfixturevalue("database"), f"kept{os.getpid()}_{next(_schemas)}"
    write_tables(url, schema, left)
    define(workspace, {"engine": engine, "url": url, "schema_name": schema})
    yield workspace
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"DROP SCHEMA {schema} CASCADE".encode())


@pytest.fixture
def kinds(
    unpacked_state: tuple[Path, Any], engine: str, request: pytest.FixtureRequest
) -> Iterator[Workspace]:
    """A store with rows of each kind."""
    yield from _opened(unpacked_state[0] / "kinds", engine, request)


@pytest.fixture
def killed(
    unpacked_state: tuple[Path, Any], engine: str, request: pytest.FixtureRequest
) -> Iterator[Workspace]:
    """A project whose second run was killed."""
    yield from _opened(unpacked_state[0] / "killed", engine, request)


@pytest.fixture
def empty(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """A project that was never crawled."""
    workspace = InProcessWorkspace(tmp_path / "empty")
    workspace.directory.mkdir()
    if engine != "postgresql":
        define(workspace, {"engine": engine})
        yield workspace
        return
    with a_schema(request.getfixturevalue("database")) as options:
        define(workspace, {"engine": engine, "url": options["url"], "schema_name": options["schema"]})
        yield workspace


def without_times(rows: Rows) -> Mapping[str, Mapping[str, list[Any]]]:
    """Return rows without the times and durations of their runs: of each is left whether it is 0."""
    return {
        source: {kind: sorted(map(_timeless, found), key=json.dumps) for kind, found in kinds.items()}
        for source, kinds in rows.items()
    }


def _timeless(value: Any) -> Any:
    match value:
        case float():
            return bool(value)
        case str():
            return value if not value.startswith('{"') else "a report"
        case list():
            return [_timeless(one) for one in value]
        case dict():
            return {name: _timeless(one) for name, one in value.items()}
    return value


def rows_in(workspace: Workspace, earlier: Rows) -> Rows:
    """Return the rows of a project as the earlier program had them."""
    return as_earlier(all_rows(place_in(workspace)), earlier)


def crawled_unchanged(workspace: Workspace) -> dict[str, Any]:
    site = NetworkSite()
    fill(site)
    with site.serve(HOST, PORT):
        run = workspace.crawl().run
    assert site.count("/0") <= 1
    return run


def test_rows_of_each_kind_are_what_they_were(
    kinds: Workspace, unpacked_state: tuple[Path, dict[str, Rows]]
) -> None:
    assert rows_in(kinds, unpacked_state[1]["kinds"]) == unpacked_state[1]["kinds"]


def test_a_run_that_was_killed_is_gone_on_with_and_ends_as_if_it_had_not_been(
    killed: Workspace, unpacked_state: tuple[Path, dict[str, Rows]]
) -> None:
    assert crawled_unchanged(killed)["resumed"]
    second = unpacked_state[1]["second"]
    assert without_times(rows_in(killed, second)) == without_times(second)
    assert killed.search("text")


def test_a_backup_is_restored_and_its_next_run_finds_nothing_new(
    empty: Workspace, unpacked_state: tuple[Path, dict[str, Rows]]
) -> None:
    left, rows = unpacked_state
    restored = empty.command("restore", str(left / "saved.tgz"))
    assert restored.code == 0, restored.err
    assert rows_in(empty, rows["first"]) == rows["first"]
    crawled_unchanged(empty)
    assert without_times(rows_in(empty, rows["second"])) == without_times(rows["second"])
    assert len(empty.indexed()) == INDEXED
