"""Readers say what they are, and those that an earlier version derived are renewed without reading a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from support.listed import crawl, found, outcomes
from support.project import Workspace

from ultracrawl.agents.file import entries
from ultracrawl.agents.file.entries import group_name, user_name
from ultracrawl.agents.file.fetcher import FileFetcher
from ultracrawl.model import Document
from ultracrawl.rules.access.readers import BY_HAND
from ultracrawl.sources import DataSource

ENGINES = pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
FILES = {"private": 0o600, "group": 0o640, "public": 0o644}


@pytest.fixture
def docs(workspace: Workspace) -> Path:
    """A folder whose files belong to a user and a group of the same name."""
    folder = workspace.directory / "docs"
    folder.mkdir()
    for name, mode in FILES.items():
        (folder / f"{name}.txt").write_text(f"{name}word common")
        (folder / f"{name}.txt").chmod(mode)
    return folder


@pytest.fixture(autouse=True)
def one_name() -> Iterator[None]:
    """Have the user and the group of all files called `games`."""
    with (
        mock.patch.object(entries, "user_name", return_value="games"),
        mock.patch.object(entries, "group_name", return_value="games"),
    ):
        yield


@contextmanager
def earlier_version() -> Iterator[None]:
    """Derive readers as before names had a type."""
    with (
        mock.patch.object(entries, "user_reader", str),
        mock.patch.object(entries, "group_reader", str),
        mock.patch.object(DataSource, "derives_readers", False),
    ):
        yield


def define(workspace: Workspace, engine: str, **options: Any) -> None:
    source = {"type": "file", "paths": ["docs"], "permissions": True, **options}
    workspace.write({"index": {"engine": engine}, "sources": {"s": source}})


def seen(workspace: Workspace, word: str = "common") -> dict[str, list[str]]:
    """Return the files that are found, by who asks."""
    return {
        who: [name.removesuffix(".txt") for name in found(workspace, word, principal=who)]
        for who in ("games", "user:games", "group:games")
    }


SEEN = {
    "games": ["public"],
    "user:games": ["group", "private", "public"],
    "group:games": ["group", "public"],
}


def test_names_of_this_machine_have_types(docs: Path) -> None:
    status = (docs / "group.txt").stat()
    mock.patch.stopall()
    with (
        mock.patch.object(entries, "user_name", user_name),
        mock.patch.object(entries, "group_name", group_name),
    ):
        assert entries.readers_of(status) == (
            f"user:{user_name(os.getuid())}",
            f"group:{group_name(status.st_gid)}",
        )


@ENGINES
def test_a_private_file_is_not_found_by_the_group_of_its_owners_name(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    define(workspace, engine)
    for run in ({"NEW": 3}, {"NOT_MODIFIED": 3}, {"NOT_MODIFIED": 3}):
        assert outcomes(crawl(workspace)) == run
        assert seen(workspace) == SEEN
    (docs / "private.txt").chmod(0o640)
    (docs / "group.txt").chmod(0o600)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1, "MODIFIED": 2}
    assert seen(workspace) == SEEN | {"group:games": ["private", "public"]}


@ENGINES
def test_readers_of_an_earlier_version_are_renewed_without_reading_a_file(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    define(workspace, engine)
    with earlier_version():
        crawl(workspace)
    assert seen(workspace) == {who: ["public"] for who in SEEN}, "until then only those who see all"
    with mock.patch.object(FileFetcher, "fetch", side_effect=AssertionError("a file is read")):
        for renewed in (True, False, False):
            run = crawl(workspace)
            assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 3}, 0)
            assert bool(run["remarks"]) == renewed
            assert seen(workspace) == SEEN
    assert workspace.command("index", "check").code == 0
    (docs / "private.txt").write_text("anotherword common")
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 2, "MODIFIED": 1}
    assert seen(workspace, "anotherword")["user:games"] == ["private"]


@ENGINES
def test_names_by_hand_count_beside_derived_ones_once_they_are_known_as_such(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    """Before that, nobody can tell the `games` of the definition from that of a file."""
    define(workspace, engine, acl=["games", "group:staff"])
    with earlier_version():
        crawl(workspace)
    assert seen(workspace) == {who: [] for who in SEEN}, (
        "private of the user, and public for the names by hand"
    )
    assert crawl(workspace)["fetched"] == 0
    assert seen(workspace) == {**SEEN, "user:games": ["group", "private"], "group:games": ["group"]}
    assert found(workspace, "common", principal="group:staff") == ["public.txt"]


@ENGINES
def test_copies_of_an_earlier_version_are_compared_by_who_may_read_them(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    for name, mode in (("p1", 0o600), ("p2", 0o600), ("q", 0o640), ("r", 0o644)):
        (docs / f"{name}.txt").write_text("twinword of several files")
        (docs / f"{name}.txt").chmod(mode)
    define(workspace, engine)
    with earlier_version():
        assert outcomes(crawl(workspace)) == {"NEW": 5, "DUPLICATE": 2}, (
            "a private one stood for that of the group"
        )
    crawl(workspace)
    twins = {"games": ["r"], "user:games": ["p1", "q", "r"], "group:games": ["q", "r"]}
    for _ in range(2):
        assert seen(workspace, "twinword") == twins
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 6, "DUPLICATE": 1}, 0)
    (docs / "p3.txt").write_text("twinword of several files")
    (docs / "p3.txt").chmod(0o600)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 6, "DUPLICATE": 2}, (
        "a renewed file is known as equal"
    )


@ENGINES
def test_what_other_programs_are_fed_with_is_read_again(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    workspace.write({
        "index": {"engine": engine},
        "destinations": {"lines": {"type": "jsonl", "path": "out.jsonl"}},
        "sources": {
            "s": {
                "type": "file", "paths": ["docs"], "permissions": True, "acl": ["staff"],
                "feeding": {"destinations": {"default": {"primary": True}, "out": {"destination": "lines"}}},
            }
        },
    })  # fmt: skip
    with earlier_version():
        crawl(workspace)
    assert crawl(workspace)["fetched"] == 3
    lines = (workspace.directory / "out.jsonl").read_text()
    assert '"acl":["group:games","user:games"]' in lines
    assert '"acl":["staff"]' in lines
    assert BY_HAND not in lines


@ENGINES
@pytest.mark.parametrize("renews", [True, False], ids=["renewed", "not renewed"])
def test_stored_answers_of_an_earlier_version_show_a_private_file_to_no_group(
    workspace: Workspace, docs: Path, engine: str, renews: bool
) -> None:
    define(workspace, engine, storage={"keep": True})
    with earlier_version():
        crawl(workspace)
    if renews:
        crawl(workspace)
    for _ in range(2):
        (remark,) = workspace.command("reindex", "--json").run["remarks"]
        assert remark in workspace.command("reindex").out
        assert seen(workspace) == {who: ["public"] for who in SEEN}
    run = crawl(workspace)
    assert (run["outcomes"]["MODIFIED"], run["fetched"]) == (2, 2)
    assert seen(workspace) == SEEN
    assert not workspace.command("reindex", "--json").run["remarks"]
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 3}
    assert seen(workspace) == SEEN


@ENGINES
def test_changed_lists_of_related_urls_leave_the_readers_as_they_are(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    define(workspace, engine, relations={"tell": ["duplicates"]}, acl=["staff"])
    with earlier_version():
        crawl(workspace)
    crawl(workspace)
    copy = docs / "privatecopy.txt"
    for path, mode in ((copy, 0o600), (docs / "publiccopy.txt", 0o644)):
        path.write_text((docs / f"{'private' if path is copy else 'public'}.txt").read_text())
        path.chmod(mode)
    assert outcomes(crawl(workspace))["DUPLICATE"] == 2
    assert seen(workspace) == {
        **SEEN,
        "games": [],
        "user:games": ["group", "private"],
        "group:games": ["group"],
    }
    assert found(workspace, "common", principal="staff") == ["public.txt"]


@ENGINES
def test_a_copy_of_a_renewed_public_file_is_known_as_equal(
    workspace: Workspace, docs: Path, engine: str
) -> None:
    define(workspace, engine, acl=["user:ann"])
    with earlier_version():
        crawl(workspace)
    crawl(workspace)
    (docs / "publiccopy.txt").write_text((docs / "public.txt").read_text())
    (docs / "publiccopy.txt").chmod(0o644)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 3, "DUPLICATE": 1}


@ENGINES
def test_readers_that_a_pipeline_gives_are_not_taken_away(
    workspace: Workspace, docs: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closing:
        def process_item(self, item: Document) -> Document:
            item.acl = ["staff"] if item.acl else []
            return item

    module = ModuleType("closing_pipeline")
    module.Closing = Closing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "closing_pipeline", module)
    define(workspace, engine, settings={"ITEM_PIPELINES": {"closing_pipeline.Closing": 100}})
    with earlier_version():
        crawl(workspace)
    crawl(workspace)
    assert seen(workspace) == {who: ["public"] for who in SEEN}
    assert found(workspace, "common", principal="staff") == ["group.txt", "private.txt", "public.txt"]
