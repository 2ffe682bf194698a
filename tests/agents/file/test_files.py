"""Sources of files: what is walked, what a file is as a document, and what a change of it means."""

from __future__ import annotations

import errno
import mailbox
import os
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.sentences import sentence

from ultracrawl.agents.file.base_folders import BaseFolders
from ultracrawl.agents.file.entries import group_name, user_name
from ultracrawl.agents.file.fetcher import FileFetcher
from ultracrawl.agents.file.file_urls import path_of_url, url_of_path
from ultracrawl.agents.file.kind import KIND
from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.walking import MAX_DEPTH
from ultracrawl.agents.file.watched import watched_files
from ultracrawl.agents.port import Batch, Complete, Entry, Failure, KindSetup, Listed, Partial, Wanted
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.kinds import source_model, watched_sources
from ultracrawl.sources.secrets import SecretReader

Write = Callable[..., Path]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


@pytest.fixture
def write(docs: Path) -> Write:
    def written(name: str, text: str = "common words") -> Path:
        file = docs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return written


def setup_of(docs: Path, **options: Any) -> KindSetup[FileSection]:
    section = FileSection(**{"paths": ["docs"], **options})
    return KindSetup(section, DataSource(name="s"), docs.parent, SecretReader({}))


def listed(docs: Path, **options: Any) -> list[Listed]:
    return list(FileLister(setup_of(docs, **options)).list_entries("", ""))  # type: ignore[arg-type]  # no iterator of the loop


def entries(docs: Path, **options: Any) -> list[Entry]:
    found = [entry for one in listed(docs, **options) if isinstance(one, Batch) for entry in one.entries]
    return sorted(found, key=lambda entry: entry.access_url)


def names(docs: Path, **options: Any) -> list[str]:
    start = len(url_of_path(os.fsencode(docs))) + 1
    return [entry.access_url[start:] for entry in entries(docs, **options)]


def fetched(docs: Path, path: Path, **options: Any) -> Entry | Failure:
    (found,) = FileFetcher(setup_of(docs, **options)).fetch([Wanted(url_of_path(os.fsencode(path)))])  # type: ignore[misc]
    return found  # type: ignore[no-any-return]


# ---- what is listed


def test_files_are_listed_and_folders_are_not(docs: Path, write: Write) -> None:
    for name in ("a.txt", "b/c.txt", "b/d/e.txt", ".secret", ".git/config"):
        write(name)
    os.mkfifo(docs / "pipe")
    assert names(docs) == ["a.txt", "b/c.txt", "b/d/e.txt"]
    assert names(docs, hidden=True) == [".git/config", ".secret", "a.txt", "b/c.txt", "b/d/e.txt"]
    assert names(docs, levels=0) == ["a.txt"]
    assert names(docs, levels=1) == ["a.txt", "b/c.txt"]


def test_patterns_say_what_is_inside(docs: Path, write: Write) -> None:
    for name in ("a.txt", "a.pdf", "old/b.pdf", "new/c.pdf", "new/deep/old/d.pdf"):
        write(name)
    assert names(docs, include="*.pdf") == ["a.pdf", "new/c.pdf", "new/deep/old/d.pdf", "old/b.pdf"]
    assert names(docs, include=["new/*"]) == ["new/c.pdf", "new/deep/old/d.pdf"]
    assert names(docs, exclude=["old"]) == ["a.pdf", "a.txt", "new/c.pdf"]
    assert names(docs, include=["*.pdf"], exclude=["new/deep"]) == ["a.pdf", "new/c.pdf", "old/b.pdf"]


def test_slashes_in_patterns_are_those_of_gitignore(docs: Path, write: Write) -> None:
    for name in ("a.txt", "old", "new/c.txt", "new/old/d.txt", "new/deep/old/e.txt"):
        write(name)
    assert names(docs, exclude=["new/"]) == names(docs, exclude=["/new/"]) == ["a.txt", "old"]
    assert names(docs, exclude=["old/"]) == ["a.txt", "new/c.txt"]
    assert names(docs, exclude=["/old"]) == ["a.txt", "new/c.txt", "new/deep/old/e.txt", "new/old/d.txt"]
    assert names(docs, exclude=["new/old/"]) == ["a.txt", "new/c.txt", "new/deep/old/e.txt", "old"]
    assert names(docs, include=["/new/old/"]) == ["new/old/d.txt"]
    assert names(docs, include=["new/"]) == ["new/c.txt", "new/deep/old/e.txt", "new/old/d.txt"]


def test_links_are_followed_if_wanted_and_never_out_of_the_folder(docs: Path, write: Write) -> None:
    write("a/b.txt")
    outside = docs.parent / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("no")
    (docs / "file").symlink_to("a/b.txt")
    (docs / "folder").symlink_to("a")
    (docs / "up").symlink_to("..")
    (docs / "out").symlink_to(outside)
    (docs / "out.txt").symlink_to(outside / "c.txt")
    (docs / "a" / "loop").symlink_to(docs)
    (docs / "nowhere").symlink_to("x")
    assert names(docs) == ["a/b.txt"]
    assert names(docs, symlinks=True) == ["a/b.txt", "file", "folder/b.txt"]
    assert isinstance(fetched(docs, docs / "file", symlinks=True), Entry)
    for name in ("out.txt", "out/c.txt", "nowhere", "up/outside/c.txt"):
        assert isinstance(fetched(docs, docs / name, symlinks=True), Failure), name
        assert isinstance(fetched(docs, docs / name), Failure), name
    assert fetched(docs, docs / "file") == Failure(403, "Too many levels of symbolic links")


def test_a_path_that_climbs_out_of_the_folder_is_not_read(docs: Path, write: Write) -> None:
    write("a.txt")
    (docs.parent / "b.txt").write_text("no")
    found = fetched(docs, docs / ".." / "b.txt")
    assert isinstance(found, Failure)
    assert isinstance(fetched(docs, docs.parent / "b.txt"), Failure)


def test_any_name_of_a_file_has_a_url_and_is_found_by_it(docs: Path) -> None:
    for name in (b"a b?c#d%20", "ä".encode(), b"\xff\xfe", b"a|b\\c", b"..."):
        path = os.fsencode(docs) + b"/" + name
        with open(path, "w") as file:
            file.write("words")
        assert path_of_url(url_of_path(path)) == path
        found = fetched(docs, Path(os.fsdecode(path)))
        assert isinstance(found, Entry)
        assert found.body == b"words"
    assert len(entries(docs, hidden=True)) == 5


def test_what_is_known_of_a_file_without_reading_it(docs: Path, write: Write) -> None:
    file = write("Report 1.pdf", "12345")
    os.utime(file, (1000, 1000))
    (entry,) = entries(docs, permissions=True)
    assert (entry.name, entry.last_modified, entry.attributes) == ("Report 1.pdf", 1000.0, {"size": ("5",)})
    assert entry.owner == user_name(file.stat().st_uid)
    assert entry.content_type == "application/pdf"


def test_permissions_become_principals(docs: Path, write: Write) -> None:
    file = write("a.txt")
    owner, group = user_name(file.stat().st_uid), group_name(file.stat().st_gid)
    told = {}
    for mode in (0o644, 0o640, 0o600):
        file.chmod(mode)
        (entry,) = entries(docs, permissions=True)
        told[mode] = entry.acl
        assert entries(docs)[0].acl == ()
    assert told == {0o644: (), 0o640: (f"user:{owner}", f"group:{group}"), 0o600: (f"user:{owner}",)}


def test_a_file_is_what_it_is_when_it_is_read_and_not_when_it_was_listed(docs: Path, write: Write) -> None:
    """Else one that changes in between is vouched for with the time, the size or the readers that it had."""
    file = write("a.txt")
    for mode, then in ((0o644, 0o600), (0o600, 0o644)):
        os.utime(file, (1000, 1000))
        file.chmod(mode)
        (before,) = entries(docs, permissions=True)
        file.write_text("other words")
        os.utime(file, (2000, 2000))
        file.chmod(then)
        (after,) = entries(docs, permissions=True)
        (read,) = FileFetcher(setup_of(docs, permissions=True)).fetch([Wanted(before.access_url, before)])  # type: ignore[misc]
        assert isinstance(read, Entry)
        assert (read.last_modified, read.attributes, read.acl) == (2000.0, {"size": ("11",)}, after.acl)
        # What was said and is said no more is not heard: the next listing has to find the change.
        assert read.validators == (after if after.acl else before).validators


def test_messages_of_a_maildir_are_mails(docs: Path) -> None:
    mailbox.Maildir(docs / "mail").add("Subject: Hello\n\nwords\n")
    (entry,) = entries(docs)
    assert entry.content_type == "message/rfc822"


# ---- display URLs


def test_the_longest_prefix_is_replaced__ultra_search_33(docs: Path, write: Write) -> None:
    write("doc/file.doc")
    write("b.txt")
    home = docs.as_posix()
    shown = {f"file://localhost{home}/": "https://webhost/client/", f"file://{home}/doc/": "https://other/"}
    assert [one.display_url for one in entries(docs, display_url=shown)] == [
        "https://webhost/client/b.txt",
        "https://other/file.doc",
    ]


def test_a_prefix_that_would_make_scripts_of_files_is_a_mistake(docs: Path) -> None:
    with pytest.raises(ValueError, match=sentence("files.not_beginning_url")):
        entries(docs, display_url={"file:///": "javascript://%0aalert(1)//"})


# ---- files as paths


def test_a_file_is_a_path_too(docs: Path, write: Write) -> None:
    write("a.txt")
    write("b.txt")
    (entry,) = entries(docs, paths=["docs/a.txt"], exclude=["*.txt"])
    assert entry.access_url.endswith("/docs/a.txt")
    lister = FileLister(setup_of(docs, paths=["docs/a.txt"]))
    lister.check_connection()
    fetcher = FileFetcher(setup_of(docs, paths=["docs/a.txt"]))
    other = entry.access_url.replace("/a.txt", "/b.txt")
    found, refused = fetcher.fetch([Wanted(entry.access_url), Wanted(other)])  # type: ignore[misc]
    fetcher.close()
    assert isinstance(found, Entry)
    assert (found.body, isinstance(refused, Failure)) == (b"common words", True)


@pytest.mark.parametrize("symlinks", [False, True])
def test_a_mailbox_as_a_path_is_read_as_its_messages(docs: Path, symlinks: bool) -> None:
    box = mailbox.mbox(docs / "box.mbox")
    for number in range(3):
        box.add(f"Subject: {number}\nMessage-ID: <{number}@x>\n\ntext {number}\n")
    box.close()
    setup = replace(
        setup_of(docs, paths=["docs/box.mbox"], symlinks=symlinks),
        source=DataSource(name="s", types=("mail",)),
    )
    batch = next(iter(FileLister(setup).list_entries("", "")))  # type: ignore[arg-type]
    assert isinstance(batch, Batch)
    assert [one.content_type for one in batch.entries] == ["message/rfc822"] * 3
    found = FileFetcher(setup).fetch([Wanted(one.access_url) for one in batch.entries])
    texts = sorted(one.body.split()[-1] for one in found if isinstance(one, Entry) and one.body)  # type: ignore[union-attr]
    assert texts == [b"0", b"1", b"2"]


def test_a_file_as_a_path_that_is_not_there_makes_a_listing_partial(docs: Path, write: Write) -> None:
    write("a.txt")
    (_, last) = listed(docs, paths=["docs/away.txt"])
    assert isinstance(last, Partial)
    setup = setup_of(docs, paths=["docs/a.txt"])
    (entry,) = entries(docs, paths=["docs/a.txt"])
    (docs / "a.txt").unlink()
    assert isinstance(listed(docs, paths=["docs/a.txt"])[-1], Partial)
    (failure,) = FileFetcher(setup).fetch([Wanted(entry.access_url)])  # type: ignore[misc]
    assert isinstance(failure, Failure)
    assert failure.status == 905
    os.mkfifo(docs / "pipe")
    assert isinstance(listed(docs, paths=["docs/pipe"])[-1], Partial)


# ---- what is not there


def test_a_folder_that_the_account_may_not_read_is_reported_as_a_mistake(
    docs: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(bases: object, path: bytes, flags: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    write("a.txt")
    monkeypatch.setattr(BaseFolders, "open_path", refuse)
    (_, last) = listed(docs)
    assert isinstance(last, Partial)
    assert last.mistake


def test_a_folder_that_is_not_there_or_empty_makes_a_listing_partial(docs: Path, write: Write) -> None:
    (docs.parent / "mount").mkdir()
    write("a.txt")
    end = listed(docs, paths=["docs", "absent", "mount"])[-1]
    assert isinstance(end, Partial)
    assert not end.mistake
    assert [f"{docs.parent}/{name}: " in end.reason for name in ("docs", "absent", "mount")] == [
        False,
        True,
        True,
    ]


def test_a_file_of_an_absent_folder_is_not_reached_and_one_of_a_present_folder_is_gone(
    docs: Path, write: Write
) -> None:
    assert fetched(docs, docs / "a.txt") == Failure(905, f"{docs} does not exist")
    write("b.txt")
    assert fetched(docs, docs / "a.txt") == Failure(404)
    assert fetched(docs, docs / "b.txt" / "c.txt") == Failure(404)


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Have the system say nothing but an error of what has a name."""
    stat = os.stat

    def refused(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        if not isinstance(path, int) and os.path.basename(os.fsencode(path)) == os.fsencode(name):
            raise OSError(number, os.strerror(number))
        return stat(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", refused)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_file_of_which_nothing_can_be_learned_makes_a_listing_partial(
    docs: Path, write: Write, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    for name in ("a.txt", "b.txt"):
        write(name)
    refuse(monkeypatch, "a.txt", number)
    assert names(docs) == ["b.txt"]
    assert listed(docs)[-1] == Partial(f"{docs}/a.txt: {os.strerror(number)}")


def test_a_file_that_went_meanwhile_and_a_link_that_leads_nowhere_are_no_doubt(
    docs: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "b.txt"):
        write(name)
    for name, target in {"nowhere": "x", "inside": "b.txt/x", "round": "round"}.items():
        (docs / name).symlink_to(target)
    refuse(monkeypatch, "a.txt", errno.ENOENT)
    assert names(docs, symlinks=True) == ["b.txt"]
    assert listed(docs, symlinks=True)[-1] == Complete()


def test_a_link_that_cannot_be_followed_to_its_end_makes_a_listing_partial(
    docs: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.txt")
    (docs / "b.txt").symlink_to("a.txt")
    refuse(monkeypatch, "b.txt", errno.EIO)
    assert listed(docs, symlinks=True)[-1] == Partial(f"{docs}/b.txt: {os.strerror(errno.EIO)}")


def test_few_of_many_things_that_cannot_be_looked_at_are_named(
    docs: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        write(f"{number}/a.txt")
    refuse(monkeypatch, "a.txt", errno.EACCES)
    end = listed(docs)[-1]
    assert isinstance(end, Partial)
    assert (end.reason.count("a.txt"), end.reason.endswith("; and 6 more")) == (3, True)


def test_a_tree_without_end_is_left_and_takes_few_descriptors(docs: Path) -> None:
    folder = docs
    for _ in range(MAX_DEPTH + 20):
        (folder / "a.txt").touch()
        folder = folder / "d"
        folder.mkdir()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 20, before[1]))
    try:
        found = listed(docs)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert isinstance(found[0], Batch)
    assert len(found[0].entries) == MAX_DEPTH + 1
    end = found[-1]
    assert isinstance(end, Partial)
    assert end.reason.endswith(f"it is more than {MAX_DEPTH} folders deep")
    assert listed(docs, levels=MAX_DEPTH)[-1] == Complete()


@pytest.mark.parametrize("symlinks", [False, True])
def test_folders_are_looked_for_once_and_no_file_system_of_one_system_is_needed(
    docs: Path, write: Write, monkeypatch: pytest.MonkeyPatch, symlinks: bool
) -> None:
    paths = [write(name) for name in ("a.txt", "b/c.txt", "d/e/f.txt")]
    asked, real_path = [], os.path.realpath

    def found(path: Any, *, strict: bool = False) -> Any:
        asked.append(os.fsencode(path))
        return real_path(path, strict=strict)

    monkeypatch.setattr(os.path, "realpath", found)
    assert names(docs, symlinks=symlinks) == ["a.txt", "b/c.txt", "d/e/f.txt"]
    assert not any(path.startswith(b"/proc/") for path in asked)
    assert symlinks or asked == [os.fsencode(docs)]
    asked.clear()
    fetcher = FileFetcher(setup_of(docs))
    fetcher.fetch([Wanted(url_of_path(os.fsencode(path))) for path in paths])
    assert asked == [os.fsencode(docs)]


def test_a_link_to_a_base_folder_is_one_whatever_other_folder_it_lies_in(docs: Path, write: Write) -> None:
    write("a/b.txt")
    (docs / "link").symlink_to(docs / "a")
    assert names(docs, paths=["docs", "docs/link"]) == ["a/b.txt", "link/b.txt"]
    assert isinstance(fetched(docs, docs / "link" / "b.txt", paths=["docs", "docs/link"]), Entry)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read_is_an_outcome_of_its_own(docs: Path, write: Write) -> None:
    write("a.txt").chmod(0)
    assert fetched(docs, docs / "a.txt") == Failure(403, "Permission denied")
    (docs / "b").mkdir(mode=0)
    assert isinstance(listed(docs)[-1], Partial)


# ---- crawls


def define(workspace: Workspace, **options: object) -> None:
    source = {"type": "file", "paths": ["docs"], **options}
    workspace.write({"sources": {"share": source}})


def crawl(workspace: Workspace, code: int = 0) -> dict[str, int]:
    ended = workspace.command("crawl", "--json")
    assert ended.code == code, ended.err
    return {name: number for name, number in ended.run["outcomes"].items() if number}


def hits(workspace: Workspace, *query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workspace.command("search", "--as-typed", *query, "--json").json["hits"]
    return sorted(found, key=lambda hit: str(hit["url"]))


def test_files_are_sources_whose_links_lead_nowhere__ultra_search_24_25(
    workspace: Workspace, docs: Path, write: Write
) -> None:
    define(workspace, display_url={f"file://{docs}/": "https://files.example.com/"})
    os.utime(write("a.txt", "common plain"), (86400, 86400))
    write("b/c.html", "<title>A page</title><p>common <a href='../a.txt'>link</a>")
    write("d.bin", "\0\1\2")
    assert crawl(workspace) == {"NEW": 2, "NOT_INDEXED": 1}
    plain, page = hits(workspace, "common")
    assert (plain["url"], plain["title"]) == ("https://files.example.com/a.txt", "a.txt")
    assert plain["attributes"]["LastModifiedDate"][0].startswith("1970-01-02")
    assert (page["url"], page["title"]) == ("https://files.example.com/b/c.html", "A page")
    assert crawl(workspace) == {"NOT_MODIFIED": 3}


def test_a_change_is_seen_by_time_and_size_and_then_by_the_content__ultra_search_99(
    workspace: Workspace, docs: Path, write: Write
) -> None:
    define(workspace)
    file, other = write("a.txt", "first words"), write("b.txt", "second words")
    crawl(workspace)
    file.write_text("changed words")
    os.utime(other, (5, 5))
    assert crawl(workspace) == {"MODIFIED": 1, "UNMODIFIED": 1}
    assert len(hits(workspace, "changed")) == 1
    assert crawl(workspace) == {"NOT_MODIFIED": 2}


def test_a_file_that_is_gone_leaves_and_an_absent_mount_takes_nothing_along(
    workspace: Workspace, docs: Path, write: Write
) -> None:
    define(workspace)
    for name in "abc":
        write(f"{name}.txt", f"common {name}")
    crawl(workspace)
    (docs / "a.txt").unlink()
    assert crawl(workspace) == {"NOT_MODIFIED": 2}
    assert len(hits(workspace, "common")) == 2
    docs.rename(docs.parent / "elsewhere")
    assert crawl(workspace, code=1) == {}
    docs.mkdir()
    assert crawl(workspace, code=1) == {}
    assert len(hits(workspace, "common")) == 2


def test_a_file_of_which_nothing_can_be_learned_stays_in_the_index(
    workspace: Workspace, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    define(workspace)
    for name in ("a.txt", "b.txt"):
        write(name, f"common {name}")
    crawl(workspace)
    refuse(monkeypatch, "a.txt", errno.ESTALE)
    assert crawl(workspace, code=1) == {"NOT_MODIFIED": 1}
    assert len(hits(workspace, "common")) == 2


def test_a_copy_of_a_file_is_not_read_again_until_the_file_is_gone(
    workspace: Workspace, write: Write
) -> None:
    define(workspace, deletion={"percent": 100})
    first, _ = write("a.txt", "same words"), write("copy.txt", "same words")
    assert crawl(workspace) == {"NEW": 1, "DUPLICATE": 1}
    assert workspace.command("crawl", "--json").run["fetched"] == 0
    first.unlink()
    crawl(workspace)
    assert [hit["title"] for hit in hits(workspace, "same")] == ["copy.txt"]


def test_hits_tell_the_kind_of_their_source(workspace: Workspace, write: Write) -> None:
    define(workspace)
    write("a.txt")
    crawl(workspace)
    (hit,) = hits(workspace, "common")
    assert hit["kind"] == 901


def test_a_source_of_files_overrides_default_settings__ultra_search_26(
    workspace: Workspace, write: Write
) -> None:
    write("a.txt")
    write("b.html", "<p>common page")
    source = {"type": "file", "paths": ["docs"], "types": ["text/html"]}
    workspace.write({"defaults": {"types": ["text/plain"]}, "sources": {"share": source}})
    assert crawl(workspace) == {"NEW": 1, "NOT_INDEXED": 1}


def test_lint_sees_whether_the_folders_are_there(workspace: Workspace, docs: Path) -> None:
    define(workspace)
    assert workspace.command("lint", "--connect").code == 0
    docs.rmdir()
    assert workspace.command("lint").code == 0
    ended = workspace.command("lint", "--connect")
    assert (ended.code, str(docs) in ended.out) == (2, True)


def test_an_option_of_another_kind_of_sources_is_a_mistake(workspace: Workspace) -> None:
    define(workspace, start_urls=["https://www.example.com/"])
    told = workspace.command("lint")
    assert (told.code, " - sources.share.start_urls - " in told.out) == (2, True)


@pytest.mark.processes
def test_sources_of_files_are_crawled_beside_each_other(workspace: Workspace, tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("heron", "bittern")}
    for name, folder in folders.items():
        folder.mkdir()
        (folder / "a.txt").write_text(name)
    workspace.write(
        {"sources": {name: {"type": "file", "paths": [str(one)]} for name, one in folders.items()}}
    )
    ended = workspace.command("crawl", "--jobs", "2", "--json")
    assert (ended.code, [run["outcomes"] for run in ended.lines[0]["runs"]]) == (0, [{"NEW": 1}] * 2)


# ---- changes that are watched


def test_only_changes_of_what_a_walk_looks_at_concern_a_source(docs: Path, write: Write) -> None:
    write("a.pdf"), write("a.txt"), write("private/a.pdf"), write(".git/a.pdf")
    (docs / "out").symlink_to(docs.parent)
    (docs.parent / "docs2").mkdir()
    section = FileSection(paths=["docs"], include=["*.pdf"], exclude=["private"], levels=1, watch=True)
    affects_source = watched_files(section, docs.parent).affects_source
    answers = {
        "a.pdf": True,
        "sub/gone.pdf": True,
        "sub": True,
        "sub/deep/a.pdf": False,
        "": True,
        "a.txt": False,
        "private/a.pdf": False,
        ".git/a.pdf": False,
        "out/a.pdf": False,
        "../docs2/a.pdf": False,
    }
    assert {name: affects_source(os.path.normpath(docs / name)) for name in answers} == answers


def test_changes_concern_a_source_whose_folder_is_a_link_that_leads_elsewhere_by_now(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").touch()
    link = tmp_path / "current"
    link.symlink_to("first")
    affects_source = watched_files(FileSection(paths=["current"], watch=True), tmp_path).affects_source
    assert affects_source(str(link / "a.txt"))
    link.unlink()
    link.symlink_to("second")
    assert affects_source(str(link / "a.txt"))


def test_a_source_is_watched_only_if_it_says_so(docs: Path) -> None:
    sources = [
        source_model(KIND).model_validate({"name": name, "type": "file", "paths": ["docs"], "watch": watch})
        for name, watch in (("one", True), ("other", False))
    ]
    found = watched_sources([*sources, DataSource(name="web")], docs.parent)
    assert {name: one.folders for name, one in found.items()} == {"one": (docs,)}
