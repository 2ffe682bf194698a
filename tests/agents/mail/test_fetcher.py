"""Mails that are fetched by what their listing said, or without it: renumbered, expunged, gone with their folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.imap import PASSWORD, USER, ImapServer, imap_server, mail

from ultracrawl.agents.mail.fetcher import MAX_FAILURES, MailFetcher
from ultracrawl.agents.mail.lister import MailLister
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.agents.port import Batch, Entry, Failure, KindSetup, Wanted
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader


@pytest.fixture
def server() -> Iterator[ImapServer]:
    with imap_server() as running:
        yield running


def setup_of(folder: Path, server: ImapServer, **options: Any) -> KindSetup[MailSection]:
    section = MailSection(server=server.url, user=USER, password=PASSWORD, **options)
    return KindSetup(section, DataSource(name="s"), folder, SecretReader({}), folder=folder / "listed")


def listed(setup: KindSetup[MailSection]) -> list[Entry]:
    lister = MailLister(setup)
    batches: Any = lister.list_entries("", "")
    entries = [entry for one in batches if isinstance(one, Batch) for entry in one.entries]
    lister.close()
    return entries


def fetched(setup: KindSetup[MailSection], *wanted: Wanted) -> list[int | bytes]:
    """Return the bodies of mails, the status of those that failed."""
    fetcher = MailFetcher(setup)
    answers: Any = fetcher.fetch(wanted)
    fetcher.close()
    return [one.status if isinstance(one, Failure) else one.body for one in answers]


def test_a_mail_is_found_by_its_url_alone(tmp_path: Path, server: ImapServer) -> None:
    server.inbox.add(mail(1), mail(2))
    setup = setup_of(tmp_path, server)
    first, second = listed(setup)
    alone = [Wanted(second.access_url), Wanted(first.access_url), Wanted("mail://s/INBOX/none")]
    assert fetched(setup, *alone) == [server.inbox.mails[2], server.inbox.mails[1], 905]
    assert fetched(setup, Wanted("mail://s/")) == [404]


def test_after_another_uidvalidity_the_next_listing_decides(tmp_path: Path, server: ImapServer) -> None:
    server.inbox.add(mail(1), mail(2))
    setup = setup_of(tmp_path, server)
    first, second = listed(setup)
    server.inbox.expunge(1)
    assert fetched(setup, Wanted(first.access_url, first)) == [404]
    server.inbox.renumber()  # the UID of the first is that of the second now
    assert fetched(setup, Wanted(first.access_url, first)) == [905]
    assert fetched(setup, Wanted(second.access_url, second)) == [905]


def test_what_is_kept_is_read_from_the_archive(tmp_path: Path, server: ImapServer) -> None:
    server.inbox.add(mail(1), mail(2))
    setup, body = setup_of(tmp_path, server, expunged="keep"), server.inbox.mails[1]
    first, _ = listed(setup)
    assert fetched(setup, Wanted(first.access_url, first)) == [body]
    server.inbox.expunge(1)
    assert fetched(setup, Wanted(first.access_url, first)) == [body]
    server.inbox.renumber()
    assert fetched(setup, Wanted(first.access_url, first)) == [body]
    del server.folders["INBOX"]
    assert fetched(setup, Wanted(first.access_url, first)) == [905]


def test_a_folder_that_is_gone_fails_its_mails_and_not_the_run(tmp_path: Path, server: ImapServer) -> None:
    server.inbox.add(mail(1))
    setup = setup_of(tmp_path, server)
    (first,) = listed(setup)
    del server.folders["INBOX"]
    assert fetched(setup, Wanted(first.access_url, first)) == [905]


@pytest.mark.parametrize(("limit", "copies"), [(0, 1), (10_000, 1), (50, 0)])
def test_a_mail_is_archived_unless_it_is_cut(
    tmp_path: Path, server: ImapServer, limit: int, copies: int
) -> None:
    server.size_error = 7  # some servers announce other sizes than they send
    server.inbox.add(mail(1))
    setup = setup_of(tmp_path, server, archive="mails")
    (first,) = listed(setup)
    (body,) = fetched(setup, Wanted(first.access_url, first, limit))
    assert body == server.inbox.mails[1][: limit or None]
    assert len(list((tmp_path / "mails").rglob("*.eml"))) == copies


def test_a_server_that_fails_again_and_again_is_left_alone(tmp_path: Path, server: ImapServer) -> None:
    server.inbox.add(mail(1))
    setup = setup_of(tmp_path, server)
    (first,) = listed(setup)
    server.forget()
    server.drop_after = 0
    fetcher = MailFetcher(setup)
    for _ in range(MAX_FAILURES + 5):
        answers: Any = fetcher.fetch([Wanted(first.access_url, first)])
        assert isinstance(answers[0], Failure)
    assert len([one for one in server.commands if one.startswith("UID FETCH")]) == MAX_FAILURES
    fetcher.close()
