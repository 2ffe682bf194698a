"""Crawls of a real Dovecot: lists, increments with CONDSTORE, expunged mails, a new UIDVALIDITY."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.dovecot import PASSWORD, USER, Dovecot, dovecot_server
from support.imap import mail
from support.listed import crawl, outcomes
from support.project import Workspace

pytestmark = pytest.mark.servers  # Dovecot


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    with dovecot_server() as running:
        yield running


def define(workspace: Workspace, dovecot: Dovecot, **options: Any) -> None:
    source = {
        "type": "mail",
        "server": dovecot.url,
        "user": USER,
        "password": PASSWORD,
        "folders": ["INBOX"],
        "addresses": ["dev@example.com"],
        **options,
    }
    workspace.write({"sources": {"list": source}})


def titles(workspace: Workspace, *query: str) -> list[str]:
    answer = workspace.command("search", "--as-typed", *query, "--limit", "1000", "--json").json
    return sorted(hit["title"] for hit in answer["hits"])


def test_ultra_search_24_34_35_36_a_list_on_dovecot(workspace: Workspace, dovecot: Dovecot) -> None:
    dovecot.add(*(mail(number) for number in range(60)))
    dovecot.add(
        mail("cc", To="a@example.com", Cc="Dev <DEV@example.com>"),
        mail("bcc", To="a@example.com", Bcc="dev@example.com"),
        mail("coded", From="=?utf-8?q?J=C3=B6rg?= <j@example.com>", Subject="=?utf-8?b?R3LDvMOfZQ==?="),
        mail("twin", Message_ID="<same@x>"),
        mail("twin", Message_ID="<same@x>"),
    )
    define(workspace, dovecot, archive="mails")
    assert outcomes(crawl(workspace)) == {"NEW": 64}
    assert titles(workspace, "--where", "Author=Jörg <j@example.com>", "common") == ["Grüße"]
    assert len(list((workspace.directory / "mails").rglob("*.eml"))) == 64
    for _ in range(4):
        run = crawl(workspace)
        assert (outcomes(run), run["fetched"]) == ({"NOT_MODIFIED": 64}, 0)
    dovecot.expunge("1:5")
    dovecot.add(mail("new"))
    run = crawl(workspace)
    assert (outcomes(run)["NEW"], run["fetched"], run["deleted"]) == (1, 1, 5)
    assert len(list((workspace.directory / "mails").rglob("*.eml"))) == 65
    dovecot.renumber()
    run = crawl(workspace)
    assert (outcomes(run), run["deleted"]) == ({"UNMODIFIED": 60}, 0)
    assert outcomes(crawl(workspace)) == {"NOT_MODIFIED": 60}
    with dovecot.client() as client:
        client.select("INBOX", readonly=True)
        assert client.search(None, "SEEN")[1] == [b""], "no mail counts as read"


def test_folders_with_other_characters_are_opened(workspace: Workspace, dovecot: Dovecot) -> None:
    with dovecot.client() as client:
        client.create('"Entw&APw-rfe &- mehr"')
    dovecot.add(mail(1), folder='"Entw&APw-rfe &- mehr"')
    define(workspace, dovecot, folders=["INBOX", "Entwürfe & mehr"])
    assert outcomes(crawl(workspace)) == {"NEW": 1}
