"""Crawls of mail servers, from the definition to hits: what is new, changed and gone, and what is not requested."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from support.imap import PASSWORD, Folder, ImapServer, imap_server, mail
from support.listed import crawl, outcomes
from support.listing_kills import shake
from support.project import Workspace
from support.same_index import index_differences


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
    answer = workspace.command("search", "--as-typed", *query, "--limit", "1000", "--json").json
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


def test_what_is_mapped_to_the_author_is_added(workspace: Workspace, server: ImapServer) -> None:
    server.inbox.add(mail(1, From="a@example.com", To="dev@example.com"))
    define(workspace, server, attributes={"to": "Author"})
    crawl(workspace)
    (hit,) = workspace.command("search", "common", "--json").json["hits"]
    assert sorted(hit["attributes"]["Author"]) == ["a@example.com", "dev@example.com"]


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


# ---- what a mail is


def test_a_mail_is_found_by_its_ids_and_by_its_attachments(workspace: Workspace, server: ImapServer) -> None:
    server.inbox.add(
        mail(1, References="<a@example.com>\n <b@example.com>", List_Id="Developers <dev.example.com>"),
        with_attachment("2"),
    )
    define(workspace, server, attributes={"list_id": "Description"})
    crawl(workspace)
    assert titles(workspace, "--where", "message_id=<1@example.com>", "common") == ["Subject 1"]
    assert titles(workspace, "--where", "references=<b@example.com>", "common") == ["Subject 1"]
    assert titles(workspace, "--where", "Description=Developers <dev.example.com>", "common") == ["Subject 1"]
    assert titles(workspace, "heron") == ["Subject 2"]
    assert titles(workspace, "--where", "attachments=notes.html", "common") == ["Subject 2"]


def with_attachment(name: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Message-ID"] = "a@example.com", "dev@example.com", f"<{name}@x>"
    message["Subject"] = f"Subject {name}"
    message.set_content("common text")
    message.add_attachment(b"<p>a heron</p>", maintype="text", subtype="html", filename="notes.html")
    return message.as_bytes()


BROKEN = {
    "charset": b"To: dev@example.com\nSubject: odd\nContent-Type: text/plain; charset=klingon-7\n\ncommon gr\xfcn\n",
    "header": b"To: dev@example.com\nSubject: =?utf-8?q?=FF_half\nFrom: <<<\n\ncommon\n",
    "raw bytes": "To: dev@example.com\nSubject: Grüße\n\ncommon\n".encode("iso-8859-1"),
    "boundary": b"To: dev@example.com\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ncommon\n--c\nno end",
    "no boundary": b"To: dev@example.com\nContent-Type: multipart/mixed\n\ncommon\n",
    "base64": b"To: dev@example.com\nContent-Transfer-Encoding: base64\n\nY29tbW9u%%%\n",
    "date": b"To: dev@example.com\nDate: yesterday\n\ncommon\n",
    "lines": b"To: dev@example.com\nnot a header\n\ncommon\n",
}


@pytest.mark.parametrize("addresses", [["dev@example.com"], []])
def test_broken_mails_are_read_as_far_as_possible(
    workspace: Workspace, server: ImapServer, addresses: list[str]
) -> None:
    server.inbox.add(*BROKEN.values())
    if not addresses:
        server.inbox.add(b"\ncommon words without a header\n", b"")
    define(workspace, server, addresses=addresses)
    run = crawl(workspace)
    assert outcomes(run).get("FAILED", 0) == 0
    assert len(titles(workspace, "common")) == len(BROKEN) + (not addresses)
    assert crawl(workspace)["fetched"] == 0


def test_two_mails_of_equal_text_are_two_documents(workspace: Workspace, server: ImapServer) -> None:
    server.inbox.add(
        mail(1, Message_ID="<a@x>"), mail(1, Message_ID="<b@x>"), mail(2), mail(2), mail(3, Message_ID="")
    )
    server.inbox.add(mail(3, Message_ID=""))
    define(workspace, server)
    assert outcomes(crawl(workspace)) == {"NEW": 6}
    assert len(titles(workspace, "common")) == 6
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 6}
    server.inbox.expunge(3)  # the first of two equal ones
    assert crawl(workspace)["deleted"] == 1
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 5}


def test_hits_link_where_the_template_says(workspace: Workspace, server: ImapServer) -> None:
    first, second = (
        mail(day, Message_ID="<a/b+c@x>", Date=f"Mon, {day} Mar 2026 12:00:00 +0000") for day in (1, 2)
    )
    server.inbox.add(first, second, mail(3, Message_ID=""))
    define(workspace, server, display_url="https://lists.example.com/{folder}/{message_id}")
    crawl(workspace)
    hits = workspace.command("search", "common", "--json").json["hits"]
    urls = {hit["title"]: hit["url"] for hit in hits}
    assert urls["Subject 1"] == "https://lists.example.com/INBOX/a%2Fb+c@x"
    assert urls["Subject 2"].startswith("mail://list/INBOX/")
    assert urls["Subject 3"].startswith("mail://list/INBOX/")
    server.inbox.expunge(1)
    crawl(workspace)
    hits = workspace.command("search", "common", "--json").json["hits"]
    urls = {hit["title"]: hit["url"] for hit in hits}
    assert urls["Subject 2"] == "https://lists.example.com/INBOX/a%2Fb+c@x", "as if the first had never been"
    assert urls["Subject 3"].startswith("mail://list/INBOX/")
    assert crawl(workspace)["fetched"] == 0


@pytest.mark.parametrize("order", ["123", "321", "213"])
def test_which_of_several_mails_with_one_message_id_is_which_depends_on_no_order(
    workspace: Workspace, server: ImapServer, order: str
) -> None:
    mails = {
        "1": mail(1, Message_ID="<a@x>", Date="Mon, 2 Mar 2026 12:00:00 +0000"),
        "2": mail(2, Message_ID="<a@x>", Date="Mon, 2 Mar 2026 12:00:00 +0100"),  # the earliest
        "3": mail(3, Message_ID="<a@x>", Date="none"),
    }
    server.inbox.add(*(mails[one] for one in order))
    define(workspace, server, display_url="https://lists.example.com/{message_id}")
    crawl(workspace)

    def names() -> dict[str, str]:
        hits = workspace.command("search", "common", "--json").json["hits"]
        return {hit["title"]: hit["url"].rpartition("/")[2] for hit in hits}

    found = names()
    assert found["Subject 2"] == "a@x"
    assert [found["Subject 1"][-9:], found["Subject 3"][-9:]] == ["-1f8533ec", "-f50e170c"]
    server.inbox.expunge(1 + order.index("2"))
    crawl(workspace)
    del found["Subject 2"]
    first = min(found, key=found.__getitem__)
    assert names() == found | {first: "a@x"}
    assert crawl(workspace)["fetched"] == 0


# ---- what changes


@pytest.mark.parametrize("gaps", [False, True])
def test_another_uidvalidity_fetches_again_and_duplicates_nothing(
    workspace: Workspace, server: ImapServer, gaps: bool
) -> None:
    server.inbox.add(*(mail(number) for number in range(60)))
    if gaps:
        server.inbox.expunge(*range(1, 50))
    before = len(server.inbox.mails)
    define(workspace, server, deletion={})
    crawl(workspace)
    urls = set(workspace.urls())
    server.inbox.renumber()
    server.forget()
    run = crawl(workspace)
    assert (outcomes(run), server.bodies, run["deleted"]) == ({"UNMODIFIED": before}, before, 0)
    assert set(workspace.urls()) == urls
    server.forget()
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": before}
    assert server.bodies == 0


@pytest.mark.parametrize("condstore", [True, False])
def test_an_unchanged_folder_costs_no_search_with_condstore(
    workspace: Workspace, server: ImapServer, condstore: bool
) -> None:
    server.condstore = condstore
    server.inbox.add(mail(1), mail(2))
    define(workspace, server)
    crawl(workspace)
    server.forget()
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 2}
    searches = [command for command in server.commands if command.startswith("UID")]
    assert searches == ([] if condstore else ["UID SEARCH ALL"])
    server.inbox.expunge(1)
    assert crawl(workspace)["deleted"] == 1


def test_expunged_mails_stay_if_asked_and_are_read_from_the_archive(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(mail(1), mail(2))
    define(workspace, server, expunged="keep")
    crawl(workspace)
    server.inbox.expunge(1)
    for _ in range(2):
        assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 2}
    assert outcomes(crawl(workspace, "--force")) == {"REINDEXED": 2}
    assert len(titles(workspace, "common")) == 2
    server.inbox.renumber()
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 1, "UNMODIFIED": 1}
    define(workspace, server)
    assert crawl(workspace)["deleted"] == 1


def test_an_emptied_folder_meets_the_deletion_guard(workspace: Workspace, server: ImapServer) -> None:
    server.inbox.add(*(mail(number) for number in range(60)))
    define(workspace, server, deletion={})
    crawl(workspace)
    server.inbox.expunge(*range(1, 61))
    workspace.command("crawl")
    assert len(titles(workspace, "common")) == 60
    assert workspace.command("approve-deletions", "list").code == 0
    assert titles(workspace, "common") == []


# ---- what fails


def test_a_missing_folder_is_partial_and_the_others_are_read(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(mail(1))
    server.folders["Old"] = Folder()
    server.folders["Old"].add(mail(2))
    define(workspace, server, folders=["Old", "INBOX"])
    assert outcomes(crawl(workspace)) == {"NEW": 2}
    del server.folders["Old"]
    server.inbox.add(mail(3))
    run = crawl(workspace, code=1)
    assert (run["deleted"], outcomes(run)["NEW"]) == (0, 1)
    assert len(titles(workspace, "common")) == 3


@pytest.mark.parametrize("answered", [0, 1, 2, 3])
def test_a_lost_connection_is_partial_and_deletes_nothing(
    workspace: Workspace, server: ImapServer, answered: int
) -> None:
    server.inbox.add(*(mail(number) for number in range(40)))
    define(workspace, server)
    crawl(workspace)
    server.inbox.expunge(1)
    server.inbox.add(*(mail(number) for number in range(40, 80)))
    server.drop_after = answered
    run = crawl(workspace, code=0 if answered else 1)
    failed = outcomes(run).get("NETWORK_ERROR", 0)
    assert (run["deleted"], failed > 0) == (int(answered > 0), answered > 0)
    assert len(titles(workspace, "common")) == 80 - 40 * (not answered) - failed - run["deleted"]
    server.drop_after = -1
    crawl(workspace)
    assert titles(workspace, "common") == sorted(f"Subject {number}" for number in range(1, 80))
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 79}


def test_a_silent_server_is_given_up_and_others_are_not_kept_waiting(
    workspace: Workspace, server: ImapServer
) -> None:
    server.inbox.add(mail(1))
    with imap_server() as silent:
        silent.silent = True
        sources = {"list": source_of(server), "dumb": source_of(silent, limits={"timeout": 1})}
        workspace.write({"sources": sources})
        ended = workspace.command("crawl", "--json", timeout=120)
    runs = {run["source"]: run for run in ended.json["runs"]}
    assert (outcomes(runs["list"]), outcomes(runs["dumb"])) == ({"NEW": 1}, {})
    assert ended.code == 1


@pytest.mark.parametrize("plain", [True, False])
def test_a_wrong_password_ends_the_run_and_is_in_no_message(
    workspace: Workspace, server: ImapServer, plain: bool
) -> None:
    server.plain = plain  # LOGIN is answered with what was said
    server.inbox.add(mail(1))
    define(workspace, server)
    crawl(workspace)
    define(workspace, server, password="very wrong")
    for words in (("crawl",), ("lint", "--connect")):
        ended = workspace.command(*words)
        assert ended.code == 2
        assert "reader" in ended.out + ended.err
        assert "very wrong" not in ended.out + ended.err
    assert titles(workspace, "common") == ["Subject 1"]


def test_an_archive_that_cannot_be_written_refuses_the_crawl(
    workspace: Workspace, server: ImapServer
) -> None:
    (workspace.directory / "mails").write_text("a file")
    server.inbox.add(mail(1))
    define(workspace, server, archive="mails")
    ended = workspace.command("crawl")
    assert (ended.code, server.commands) == (2, [])
    assert str(workspace.directory / "mails") in ended.err


# ---- kills

MAILS = 1200


@pytest.mark.night
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, 20])
def test_kills_while_listing_and_while_fetching_leave_the_index_of_an_undisturbed_crawl(
    tmp_path: Path, server: ImapServer, kills: int
) -> None:
    calm, workspace = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    for one in (calm, workspace):
        one.directory.mkdir()
        define(one, server)
    server.inbox.add(*(mail(number) for number in range(MAILS)))
    dice = random.Random(34)
    numbers = itertools.count(MAILS)

    def change() -> None:
        if dice.random() < 0.2:
            server.inbox.renumber()
        server.inbox.expunge(*dice.sample(sorted(server.inbox.mails), 40))
        server.inbox.add(*(mail(number) for number in itertools.islice(numbers, 120)))

    hit = shake(workspace, change, kills, dice)
    assert min(hit.values()) >= kills, hit
    for _ in range(2):  # the first only ends what was listed before the last change
        workspace.crawl(timeout=300)
    calm.crawl(timeout=300)
    assert index_differences(calm, workspace) == []
    server.forget()
    assert workspace.crawl(timeout=300).run["fetched"] == 0
    assert server.bodies == 0
