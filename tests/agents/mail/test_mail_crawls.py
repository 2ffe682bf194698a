"""Crawls of mail servers, from the definition to hits: what is new, changed and gone, and what is not requested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.imap import PASSWORD, ImapServer, imap_server, mail
from support.listed import crawl, outcomes
from support.project import Workspace


@pytest.fixture
def server() -> Iterator[ImapServer]:
    with imap_server() as running:
        yield running


def source_of(server: ImapServer, **options: Any) -> dict[str, Any]:
    return {
        "type": "mail",
        "server": server.url,
        "user": "reader",
        "password": PASSWORD,
        "folders": ["INBOX"],
        "addresses": ["dev@example.com"],
        "deletion": {"percent": 100},
        **options,
    }


def define(workspace: Workspace, server: ImapServer, **options: Any) -> None:
    workspace.write({"sources": {"list": source_of(server, **options)}})


def titles(workspace: Workspace, *query: str) -> list[str]:
    answer = workspace.command("search", *query, "--limit", "1000", "--json").json
    return sorted(hit["title"] for hit in answer["hits"])


# Checklist 24 of Ultra Search: e-mail sources can be defined.
def test_ultra_search_24_mails_are_found_and_only_what_changed_is_requested(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(*(mail(number) for number in range(5)))
    define(workspace, server)
    assert outcomes(crawl(workspace)) == {"NEW": 5}
    assert titles(workspace, "word3") == ["Subject 3"]
    for _ in range(3):
        server.forget()
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 5}, 0)
        assert (server.bodies, server.headers) == (0, 0)
    server.inbox.expunge(2)
    server.inbox.add(mail(9))
    server.forget()
    run = crawl(workspace)
    assert (outcomes(run)["NEW"], run["deleted"], server.bodies, server.headers) == (1, 1, 1, 1)
    assert titles(workspace, "common") == [f"Subject {number}" for number in (0, 2, 3, 4, 9)]


# Checklist 34 of Ultra Search: an e-mail source takes mails with the address in To or Cc.
def test_ultra_search_34_mails_with_an_address_or_alias_in_to_or_cc_are_taken(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(
        mail("to"),
        mail("cc", To="other@example.com", Cc="Ben <ben@example.com>, DEV@Example.COM"),
        mail("alias", To='"The list" <developers@example.com>'),
        mail("encoded", To="=?utf-8?q?Die_Liste_=E2=80=93_=C3=A4?= <dev@example.com>"),
        mail("folded", To="a@example.com,\n b@example.com,\n dev@example.com"),
        mail("bcc", To="other@example.com", Bcc="dev@example.com"),
        mail("similar", To="web-dev@example.com, dev@example.com.org"),
        mail("name", To='"dev@example.com" <other@example.com>'),
        mail("none", To=""),
    )
    define(workspace, server, addresses=["dev@example.com", "Developers@example.com"])
    crawl(workspace)
    assert titles(workspace, "common") == [
        f"Subject {name}" for name in ("alias", "cc", "encoded", "folded", "to")
    ]
    define(workspace, server, addresses=[])
    run = crawl(workspace)
    assert len(titles(workspace, "common")) == 9
    assert outcomes(run)["NEW"] == 4


# Checklist 35 of Ultra Search: From maps to Author and Subject to Subject for mails and cannot be remapped.
def test_ultra_search_35_from_is_the_author_and_subject_the_subject(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(
        mail(
            1,
            From="=?iso-8859-1?q?J=F6rg?= <j@example.com>",
            Subject="=?utf-8?b?R3LDvMOfZQ==?=",
            References="<a@example.com>\n <b@example.com>",
            List_Id="Developers <dev.example.com>",
        )
    )
    define(workspace, server)
    crawl(workspace)
    (hit,) = workspace.command("search", "common", "--json").json["hits"]
    attributes = hit["attributes"]
    assert attributes["Author"] == ["Jörg <j@example.com>"]
    assert attributes["Subject"] == ["Grüße"]
    assert hit["title"] == "Grüße"
    assert str(attributes["LastModifiedDate"][0]).startswith("2026-03-02 10:00:00")
    assert titles(workspace, "--where", "Author=Jörg <j@example.com>", "common") == ["Grüße"]


@pytest.mark.parametrize("name", ["from", "From", "author", "subject"])
def test_ultra_search_35_a_remap_is_a_mistake_with_its_line(
    workspace: Workspace, server: ImapServer, name: str
) -> None:
    define(workspace, server, attributes={"to": "Description", name: "Description"})
    ended = workspace.command("lint", "--json")
    assert ended.code == 2
    lines = (workspace.directory / "ultracrawl.yaml").read_text().splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if text.strip().startswith(f"{name}:")]
    assert f":{line}" in ended.out or f'"line": {line}' in ended.out, ended.out


# Checklist 36 of Ultra Search: a copy of each mail is kept in the archive directory.
def test_ultra_search_36_copies_stay_in_the_archive_when_mails_are_expunged(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(mail(1), mail(2), mail("elsewhere", To="other@example.com"))
    define(workspace, server, archive="mails")
    crawl(workspace)
    folder = workspace.directory / "mails"
    stored = {file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert stored == {server.inbox.mails[1], server.inbox.mails[2]}
    server.inbox.expunge(1)
    assert crawl(workspace)["deleted"] == 1
    assert {file.read_bytes() for file in folder.rglob("*") if file.is_file()} == stored


# Checklist 129 of Ultra Search: crawlers on several machines share the archive of mails.
def test_ultra_search_129_crawls_of_several_machines_share_an_archive(
    tmp_path: Path, server: ImapServer
) -> None:
    server.inbox.add(mail(1), mail(2))
    shared = tmp_path / "share"
    machines = [Workspace(tmp_path / name) for name in ("north", "south")]
    for workspace in machines:
        workspace.directory.mkdir()
        source = source_of(server, archive=str(shared))
        workspace.write({"sources": {workspace.directory.name: source}})
    for _ in range(2):
        for workspace in machines:
            crawl(workspace)
    sent = {server.inbox.mails[1], server.inbox.mails[2]}
    server.inbox.expunge(1)
    assert crawl(machines[0])["deleted"] == 1
    server.forget()
    assert crawl(machines[1])["deleted"] == 1
    assert (titles(machines[0], "common"), server.bodies) == (titles(machines[1], "common"), 0)
    assert {file.read_bytes() for file in shared.rglob("*.eml")} == sent
