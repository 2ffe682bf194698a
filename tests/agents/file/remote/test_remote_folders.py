"""Remote folders as sources of files: the same for each scheme."""

from __future__ import annotations

import os
import random
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from support.clock import wall_time
from support.project import Workspace
from support.remote_site import PASSWORD, RemoteSite
from support.same_index import index_differences

from ultracrawl.agents.file.fetcher import FileFetcher
from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Batch, Complete, Entry, Failure, KindSetup, Listed, Partial, Wanted
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader


def setup_of(options: dict[str, Any], limits: dict[str, Any] | None = None) -> KindSetup[FileSection]:
    source = DataSource.model_validate({"name": "s", "limits": limits or {}})
    return KindSetup(FileSection(**options), source, Path("/"), SecretReader(os.environ))


def listed(site: RemoteSite, limits: dict[str, Any] | None = None, **options: Any) -> list[Listed]:
    lister = FileLister(setup_of({**site.options(), **options}, limits))
    try:
        return list(lister.list_entries("", ""))  # type: ignore[arg-type]  # no iterator of the loop
    finally:
        lister.close()


def entries(site: RemoteSite, **options: Any) -> dict[str, Entry]:
    batches = [one for one in listed(site, **options) if isinstance(one, Batch)]
    return {entry.access_url.removeprefix(site.url): entry for batch in batches for entry in batch.entries}


def fetched(site: RemoteSite, *wanted: Wanted, **options: Any) -> list[Entry | Failure]:
    fetcher = FileFetcher(setup_of({**site.options(), **options}))
    try:
        return list(fetcher.fetch(wanted))  # type: ignore[arg-type]
    finally:
        fetcher.close()


def define(workspace: Workspace, site: RemoteSite, engine: str = "whoosh", **options: Any) -> None:
    attributes = {"Bytes": "number"}
    source = {"type": "file", **site.options(), "attributes": {"size": "Bytes"}, **options}
    workspace.write({"index": {"engine": engine}, "attributes": attributes, "sources": {"share": source}})


# ---- what is listed and read


def test_files_are_listed_and_folders_are_not(site: RemoteSite) -> None:
    for name in (
        "docs/a.txt",
        "docs/b/c.txt",
        "docs/b/d/e.pdf",
        "docs/.secret",
        "docs/.git/config",
        "other/f.txt",
    ):
        site.put(name)
    assert sorted(entries(site)) == ["docs/a.txt", "docs/b/c.txt", "docs/b/d/e.pdf"]
    assert sorted(entries(site, include="*.txt")) == ["docs/a.txt", "docs/b/c.txt"]
    assert sorted(entries(site, exclude=["b/d/"])) == ["docs/a.txt", "docs/b/c.txt"]
    assert sorted(entries(site, levels=0, hidden=True)) == ["docs/.secret", "docs/a.txt"]
    assert isinstance(listed(site)[-1], Complete)


def test_any_name_of_a_file_has_a_url_and_is_found_by_it(site: RemoteSite) -> None:
    names = ("a b#d%20.txt", "ä+&=.txt", "a'c.txt", "deep ü/ê~(1).txt", *site.odd_names)
    for name in names:
        site.put(f"docs/{name}", f"words of {name}")
    found = entries(site)
    assert len(found) == len(names)
    assert all(url.isascii() and url.isprintable() for url in found)
    for entry in found.values():
        (alone,) = fetched(site, Wanted(entry.access_url))
        assert isinstance(alone, Entry)
        assert alone.body is not None
        assert alone.body.decode().endswith(entry.name)
        assert (alone.validators, alone.owner) == (entry.validators, entry.owner)


def test_what_is_known_of_a_file_without_reading_it(site: RemoteSite) -> None:
    site.put("docs/Report 1.pdf", "12345")
    (entry,) = entries(site).values()
    assert (entry.name, entry.attributes, entry.content_type) == (
        "Report 1.pdf",
        {"size": ("5",)},
        "application/pdf",
    )
    assert wall_time() - 864_100 < entry.last_modified <= wall_time() + 1
    assert site.opened == []


def test_a_file_as_a_path_is_crawled_alone(site: RemoteSite) -> None:
    site.put("docs/a.txt")
    site.put("docs/b.txt")
    options = site.options("docs/a.txt")
    assert list(entries(site, **options)) == ["docs/a.txt"]
    alone, other = fetched(site, Wanted(f"{site.url}docs/a.txt"), Wanted(f"{site.url}docs/b.txt"), **options)
    assert isinstance(alone, Entry)
    assert isinstance(other, Failure)


def test_no_more_of_a_file_is_read_than_is_wanted(site: RemoteSite) -> None:
    site.put("docs/a.txt", b"x" * 600_000)
    (entry,) = entries(site).values()
    whole, some = fetched(site, Wanted(entry.access_url, entry), Wanted(entry.access_url, entry, 1000))
    assert isinstance(whole, Entry)
    assert isinstance(some, Entry)
    assert (len(whole.body or b""), len(some.body or b"")) == (600_000, 1000)


def test_a_path_that_climbs_out_of_the_folder_is_not_read(site: RemoteSite) -> None:
    site.put("docs/a.txt")
    site.put("other/b.txt")
    for url in ("docs/../other/b.txt", "docs/%2e%2e/other/b.txt", "other/b.txt", "docs/a.txt%00"):
        (found,) = fetched(site, Wanted(site.url + url))
        assert isinstance(found, Failure), url
        assert found.status == 403
    assert site.opened == []


# ---- what is not there


def test_a_missing_or_empty_folder_makes_a_listing_partial(site: RemoteSite) -> None:
    site.put("docs/a.txt")
    site.put("empty/.keep")
    site.delete("empty/.keep")
    for folder in ("absent", "empty"):
        end = listed(site, **site.options(folder))[-1]
        assert isinstance(end, Partial), folder
        assert site.url + folder in end.reason


def test_a_listing_ends_at_the_limit_of_known_urls(site: RemoteSite) -> None:
    for name in ("docs/a.txt", "docs/b/c.txt", "docs/b/d.txt"):
        site.put(name)
    assert isinstance(listed(site, {"urls_per_site": 4})[-1], Complete)
    assert isinstance(listed(site, {"urls_per_site": None})[-1], Complete)
    *batches, end = listed(site, {"urls_per_site": 3})
    assert isinstance(end, Partial)
    assert "limits.urls_per_site" in end.reason
    assert [len(one.entries) for one in batches if isinstance(one, Batch)] in ([1], [2])


def test_a_file_of_an_absent_folder_is_not_reached_and_one_of_a_present_folder_is_gone(
    site: RemoteSite,
) -> None:
    site.put("docs/a.txt")
    site.put("docs/b.txt")
    (gone,) = fetched(site, Wanted(f"{site.url}docs/c.txt"))
    assert gone == Failure(404)
    site.delete("docs")
    (unreached,) = fetched(site, Wanted(f"{site.url}docs/b.txt"))
    assert isinstance(unreached, Failure)
    assert unreached.status == 905


def test_a_connection_that_is_lost_while_it_lists_makes_a_listing_partial(site: RemoteSite) -> None:
    for number in range(6):
        site.put(f"docs/{number}/a.txt")
    seen: list[bytes] = []

    def lose_third(path: bytes) -> None:
        seen.append(path)
        if len(seen) >= 3:
            site.lose_connections()

    site.before_listing = lose_third
    assert isinstance(listed(site)[-1], Partial)
    site.before_listing = lambda path: None
    assert isinstance(listed(site)[-1], Complete)


def test_a_connection_that_is_lost_is_made_again_for_the_next_file(site: RemoteSite) -> None:
    site.put("docs/a.txt")
    site.put("docs/b.txt")
    site.before_opening = lambda path: site.lose_connections() if path.endswith(b"a.txt") else None
    lost, read = fetched(site, Wanted(f"{site.url}docs/a.txt"), Wanted(f"{site.url}docs/b.txt"))
    assert isinstance(lost, Failure)
    assert lost.status == 905
    assert isinstance(read, Entry)


def test_a_silent_server_costs_one_time_out(site: RemoteSite) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        site.move_to(silent.getsockname()[1])
        options = site.options(timeout=2)
        begun = time.monotonic()
        assert isinstance(listed(site, **options)[-1], Partial)
        found = fetched(site, *[Wanted(f"{site.url}docs/{number}.txt") for number in range(50)], **options)
        assert [getattr(one, "status", 0) for one in found] == [905] * 50
        assert time.monotonic() - begun < 25 * 2


def test_a_refused_user_is_a_mistake_that_shows_no_password(site: RemoteSite) -> None:
    site.put("docs/a.txt")
    options = site.options(password="wrong-horse")
    options["paths"] = [path.replace("//reader@", "//nobody@") for path in options["paths"]]
    end = listed(site, **options)[-1]
    assert isinstance(end, Partial)
    assert end.mistake
    assert "wrong-horse" not in end.reason


# ---- crawls


@pytest.mark.processes
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_crawl_of_remote_files_finds_them_and_reads_only_what_changed(
    workspace: Workspace, site: RemoteSite, engine: str
) -> None:
    for number in range(12):
        site.put(f"docs/{number % 3}/{number}.txt", f"common word{number}")
    define(workspace, site, engine, display_url={f"{site.url}docs/": "https://files.example.com/"})
    assert workspace.crawl().run["fetched"] == 12
    assert sorted(workspace.search("common")) == sorted(f"/{number % 3}/{number}.txt" for number in range(12))
    assert workspace.search("common", "--where", "Bytes>=13") == workspace.search(
        "word10"
    ) + workspace.search("word11")
    site.opened.clear()
    for _ in range(2):
        assert workspace.crawl().run["fetched"] == 0
    assert site.opened == []
    site.put("docs/0/0.txt", "common changed")
    site.put("docs/new.txt", "common new")
    site.delete("docs/1/1.txt")
    assert workspace.crawl().run["fetched"] == 2
    assert workspace.search("changed") == ["/0/0.txt"]
    assert len(workspace.search("common")) == 12
    assert workspace.search("word1") == []
    assert workspace.crawl().run["fetched"] == 0


@pytest.mark.processes
def test_what_cannot_be_read_deletes_nothing(workspace: Workspace, site: RemoteSite) -> None:
    for number in range(10):
        site.put(f"docs/{number}/a.txt", f"common word{number}")
    define(workspace, site, deletion={"percent": 100})
    workspace.crawl()
    seen: list[bytes] = []

    def lose_third(path: bytes) -> None:
        seen.append(path)
        if len(seen) >= 3:
            site.lose_connections()

    site.before_listing = lose_third
    workspace.crawl(code=1)
    assert len(workspace.search("common")) == 10
    site.before_listing = lambda path: None
    site.delete("docs")
    workspace.crawl(code=1)
    site.put("docs/.keep")
    site.delete("docs/.keep")
    workspace.crawl(code=1)
    assert len(workspace.search("common")) == 10
    for number in range(9):
        site.put(f"docs/{number}/a.txt", f"common word{number}")
    workspace.crawl()
    assert len(workspace.search("common")) == 9


@pytest.mark.processes
def test_five_runs_with_changes_leave_the_index_of_a_fresh_crawl(tmp_path: Path, site: RemoteSite) -> None:
    kept, fresh = Workspace(tmp_path / "kept"), Workspace(tmp_path / "fresh")
    for one in (kept, fresh):
        one.directory.mkdir()
        define(one, site, deletion={"percent": 100})
    dice = random.Random(34)
    site.put("docs/stays.txt", "common stays")
    for run in range(5):
        for number in dice.sample(range(40), 12):
            site.put(f"docs/{number % 4}/{number}.txt", f"common run{run} word{number}")
        for number in dice.sample(range(40), 4):
            if f"docs/{number % 4}/{number}.txt" in entries(site):
                site.delete(f"docs/{number % 4}/{number}.txt")
        kept.crawl()
    fresh.crawl()
    assert index_differences(fresh, kept) == []


@pytest.mark.processes
def test_no_password_reaches_a_file_of_the_project(workspace: Workspace, site: RemoteSite) -> None:
    site.put("docs/a.txt")
    define(workspace, site)
    ended = workspace.crawl("--verbose")
    site.lose_connections()
    texts = [
        ended.out,
        ended.err,
        workspace.command("status").out,
        workspace.command("lint", "--connect").out,
    ]
    written = [path.read_bytes() for path in workspace.directory.rglob("*") if path.is_file()]
    assert [text for text in texts if PASSWORD in text] == []
    assert [content for content in written if PASSWORD.encode() in content] == []
