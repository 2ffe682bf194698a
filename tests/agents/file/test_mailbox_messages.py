"""Messages of mailboxes as documents of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.sentences import sentence

from ultracrawl.agents.file import mailboxes
from ultracrawl.agents.file.fetcher import FileFetcher
from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Batch, Complete, Entry, Failure, KindSetup, Listed, Partial, Wanted
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader

FROM = "From sender@example.com Mon Mar  2 10:00:00 2026\n"


def message(name: str, words: str = "common", head: str = "") -> str:
    return f"{head}Message-ID: <{name}@x>\nSubject: About {name}\nDate: Mon, 2 Mar 2026 10:00:00 +0000\n\n{words}\n"


def put(folder: Path, *messages: str, name: str = "box.mbox") -> Path:
    """Write a mailbox at a time of its own, so that it counts as changed."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    stamp = file.stat().st_mtime_ns + 10**9 if file.exists() else 10**18
    file.write_text("".join(f"{FROM}{one}\n" for one in messages))
    os.utime(file, ns=(stamp, stamp))
    return file


def setup_of(
    folder: Path, types: tuple[str, ...] = ("message/rfc822",), **options: Any
) -> KindSetup[FileSection]:
    section = FileSection(**{"paths": ["docs"], **options})
    return KindSetup(section, DataSource(name="s", types=types), folder, SecretReader({}))


def listed(folder: Path, **options: Any) -> list[Listed]:
    return list(FileLister(setup_of(folder, **options)).list_entries("", ""))  # type: ignore[arg-type]  # no iterator of the loop


def entries(folder: Path, **options: Any) -> list[Entry]:
    return [entry for one in listed(folder, **options) if isinstance(one, Batch) for entry in one.entries]


def bodies(folder: Path, *urls: str, most: int = 0) -> list[str]:
    """Return what the fetcher brings for some URLs, its status where it brings nothing."""
    found: Any = FileFetcher(setup_of(folder)).fetch([Wanted(url, None, most) for url in urls])
    return [str(one.status) if isinstance(one, Failure) else (one.body or b"").decode() for one in found]


def test_a_message_keeps_its_url_wherever_it_stands_and_is_fetched_by_it(tmp_path: Path) -> None:
    a, b, c = message("a"), message("b", "two\n\nparagraphs"), "Subject: without an ID\n\ncommon\n"
    put(tmp_path / "docs", a, b, c)
    before = entries(tmp_path)
    assert [one.content_type for one in before] == ["message/rfc822"] * 3
    urls = [one.access_url for one in before]
    assert [one.rstrip("\n") + "\n" for one in bodies(tmp_path, *urls)] == [a, b, c]
    assert bodies(tmp_path, urls[1], most=10) == [b[:10]]
    put(tmp_path / "docs", message("new"), c, b)
    after = {one.access_url: one.validators for one in entries(tmp_path)}
    assert after.keys() > set(urls[1:])
    assert [after[one.access_url] for one in before[1:]] == [one.validators for one in before[1:]]
    assert bodies(tmp_path, urls[0], urls[0] + "x") == ["404", "404"]


def test_a_message_that_changed_has_other_validators(tmp_path: Path) -> None:
    put(tmp_path / "docs", message("a"))
    (before,) = entries(tmp_path)
    put(tmp_path / "docs", message("a", "changed"), message("b"))
    after, _ = entries(tmp_path)
    assert after.access_url == before.access_url
    assert after.validators != before.validators


@pytest.mark.parametrize(
    "date", ["", "never", "Mon, 2 Mär 2026", "Mon, 2 Mar 99999 10:00:00 +0000", "1 Jan 1900 00:00:00 +0000"]
)
def test_a_message_without_a_date_has_that_of_its_mailbox(tmp_path: Path, date: str) -> None:
    file = put(tmp_path / "docs", message("a").replace("Mon, 2 Mar 2026 10:00:00 +0000", date))
    (found,) = FileFetcher(setup_of(tmp_path)).fetch([Wanted(entries(tmp_path)[0].access_url)])  # type: ignore[misc]
    assert isinstance(found, Entry)
    assert found.last_modified in (file.stat().st_mtime, 0.0)


def test_only_mailboxes_are_split_and_only_where_mail_is_read(tmp_path: Path) -> None:
    put(tmp_path / "docs", message("a"), message("b"))
    put(tmp_path / "docs", message("a"), message("b"), name="mail/inbox")
    (tmp_path / "docs" / "notes.mbox").write_text("just words\n")
    (tmp_path / "docs" / "none.mbox").touch()
    names = sorted(os.path.basename(one.access_url.partition("?")[0]) for one in entries(tmp_path))
    assert names == ["box.mbox", "box.mbox", "inbox", "notes.mbox"]
    assert len(entries(tmp_path, mailboxes=["*.mbox", "mail/*"])) == 5
    assert len(entries(tmp_path, mailboxes=[])) == 4
    assert len(entries(tmp_path, types=("text/plain",))) == 4


def test_a_mailbox_that_is_written_meanwhile_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that moves to the front while the rest is read would seem to be gone."""
    put(tmp_path / "docs", message("a"), message("b"))
    spans, times = mailboxes.message_spans, iter(range(9))

    def disturbed(read: Any) -> Iterator[tuple[int, int]]:
        yield from spans(read)
        if next(times) < disturbances:
            put(tmp_path / "docs", message("b"), message("a"))

    monkeypatch.setattr(mailboxes, "message_spans", disturbed)
    disturbances = 1
    found = listed(tmp_path)
    assert found[-1] == Complete()
    assert len({one.access_url for one in found[0].entries}) == 2  # type: ignore[union-attr]
    disturbances = 9
    assert listed(tmp_path)[-1] == Partial(
        sentence("listing.mailbox_changed_each_time", path=f"{tmp_path}/docs/box.mbox")
    )


def test_a_mailbox_without_end_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailboxes, "MAX_MESSAGES", 3)
    put(tmp_path / "docs", *map(message, "abcd"))
    found = listed(tmp_path)
    assert len(found[0].entries) == 3  # type: ignore[union-attr]
    assert isinstance(found[-1], Partial)


def test_a_mailbox_that_may_not_be_read_makes_a_listing_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "docs", message("a"))

    def refused(*_: Any) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ultracrawl.agents.file.lister.is_mailbox", refused)
    assert listed(tmp_path) == [Batch([]), Partial(f"{tmp_path}/docs/box.mbox: Permission denied")]


def test_messages_are_crawled_and_leave_one_by_one(workspace: Workspace) -> None:
    docs = workspace.directory / "docs"
    workspace.write({"sources": {"s": {"type": "file", "paths": ["docs"], "types": ["mail"]}}})
    put(docs, message("a", head="From: Ann <ann@x.example>\n"), message("b"), message("c"))
    assert crawl(workspace) == {"NEW": 3}
    assert hits(workspace) == ["About a", "About b", "About c"]
    (hit,) = workspace.command("search", "About a", "--json").json["hits"][:1]
    assert hit["attributes"]["LastModifiedDate"][0].startswith("2026-03-02")
    put(docs, message("b"), message("c", "common change"), message("d"))
    assert crawl(workspace) == {"NEW": 1, "MODIFIED": 1, "NOT_MODIFIED": 1}
    assert hits(workspace) == ["About b", "About c", "About d"]
    assert crawl(workspace) == {"NOT_MODIFIED": 3}


def crawl(workspace: Workspace) -> dict[str, int]:
    ended = workspace.command("crawl", "--json")
    assert ended.code == 0, ended.err
    return {name: number for name, number in ended.run["outcomes"].items() if number}


def hits(workspace: Workspace) -> list[str]:
    return sorted(hit["title"] for hit in workspace.command("search", "common", "--json").json["hits"])
