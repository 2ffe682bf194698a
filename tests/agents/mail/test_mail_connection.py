"""Connections to mail servers: encryption, logging in, the guard, and responses that are cut or too large."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from support.certificates import Authority
from support.imap import PASSWORD, TOKEN, ImapServer, imap_server, mail

from ultracrawl.agents.mail import connection
from ultracrawl.agents.mail.connection import FolderMissingError, MailConnection
from ultracrawl.agents.mail.section import MailSection
from ultracrawl.errors import UserError, WorkError
from ultracrawl.sources.secrets import SecretReader


def connected(running: ImapServer, **options: Any) -> MailConnection:
    given = {"server": running.url, "user": "reader", **options}
    if "token" not in given:
        given.setdefault("password", PASSWORD)
    return MailConnection(MailSection(**given), SecretReader({}), 5.0)


def tls_context(folder: Path) -> tuple[Path, ssl.SSLContext]:
    authority = Authority(folder)
    certificate, key = authority.issue("server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return authority.file, context


@pytest.mark.parametrize("implicit", [True, False])
def test_connections_are_encrypted_and_certificates_checked(tmp_path: Path, implicit: bool) -> None:
    ca, context = tls_context(tmp_path)
    with imap_server(context, implicit_tls=implicit) as server:
        server.inbox.add(mail(1))
        trusted = connected(server, ca=ca, starttls=True)
        assert trusted.open_folder("INBOX").mails == 1
        trusted.close()
        assert ("STARTTLS" in server.commands) != implicit
        server.forget()
        with pytest.raises(UserError):
            connected(server, starttls=True).open_folder("INBOX")
        assert not {"LOGIN", "AUTHENTICATE"} & set(server.commands)


def test_a_password_leaves_loopback_only_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_is_loopback", lambda _imap: False)
    with imap_server() as server:
        with pytest.raises(UserError):
            connected(server).open_folder("INBOX")
        assert not {"LOGIN", "AUTHENTICATE"} & set(server.commands)


@pytest.mark.parametrize(("address", "allowed"), [("127.0.0.1", True), ("169.254.169.254", False)])
def test_a_named_server_may_be_in_an_intranet_but_is_no_metadata_service(
    monkeypatch: pytest.MonkeyPatch, address: str, allowed: bool
) -> None:
    def resolve(_host: str, port: int, *_more: Any, **_options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with imap_server() as server:
        named = connected(server, server=f"imap://mail.example.com:{server.port}")
        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        if allowed:
            assert named.open_folder("INBOX").mails == 0
            named.close()
        else:
            with pytest.raises(UserError):
                named.open_folder("INBOX")


@pytest.mark.parametrize("plain", [True, False])
def test_users_log_in_by_password_or_token(plain: bool) -> None:
    with imap_server() as server:
        server.plain = plain
        own = connected(server)
        own.open_folder("INBOX")
        own.close()
        assert ("AUTHENTICATE" in server.commands) == plain
        if plain:
            by_token = connected(server, token=TOKEN)
            assert by_token.open_folder("INBOX").uidvalidity == 1
            by_token.close()
            with pytest.raises(UserError):
                connected(server, token="expired").open_folder("INBOX")


@pytest.mark.parametrize("plain", [True, False])
def test_a_user_may_have_any_characters(plain: bool) -> None:
    with imap_server() as server:
        server.plain, server.user = plain, 'Ann "of" the\\list'
        own = connected(server, user=server.user)
        assert own.open_folder("INBOX").mails == 0
        own.close()


def test_missing_folders_and_lost_connections_are_different_errors() -> None:
    with imap_server() as server:
        own = connected(server)
        with pytest.raises(FolderMissingError):
            own.open_folder("None")
        assert own.open_folder("INBOX").mails == 0
        server.drop_after = 0
        server.inbox.add(mail(1))
        with pytest.raises(WorkError):
            list(own.fetch([1], "BODY.PEEK[]"))
        server.drop_after = -1
        own.open_folder("INBOX")
        (found,) = own.fetch([1], "BODY.PEEK[]<0.10>")
        assert (found.body, found.size) == (server.inbox.mails[1][:10], len(server.inbox.mails[1]))
        own.close()


def test_the_names_of_folders_are_encoded() -> None:
    with imap_server() as server:
        server.folders["Entw&APw-rfe &- mehr"] = server.inbox
        own = connected(server)
        assert own.open_folder("Entwürfe & mehr").mails == 0
        own.close()


@pytest.mark.parametrize("tells_uidnext", [True, False])
def test_many_uids_are_requested_in_parts_if_the_last_is_known(
    monkeypatch: pytest.MonkeyPatch, tells_uidnext: bool
) -> None:
    monkeypatch.setattr(connection, "MAX_UIDS", 10)
    with imap_server() as server:
        server.tells_uidnext = tells_uidnext
        server.inbox.add(*(mail(number) for number in range(35)))
        server.inbox.expunge(*range(5, 15))
        own = connected(server)
        own.open_folder("INBOX")
        assert own.search_uids() == sorted(server.inbox.mails)
        own.close()


def test_a_server_that_announces_too_much_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_LITERAL", 100)
    with imap_server() as server:
        server.inbox.add(mail(1, text="x" * 200))
        own = connected(server)
        own.open_folder("INBOX")
        with pytest.raises(WorkError):
            list(own.fetch([1], "BODY.PEEK[]"))


def test_a_server_that_is_not_there_is_a_failure_of_its_own() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"imap://127.0.0.1:{taken.getsockname()[1]}"
        options = MailSection(server=url, user="reader", password=PASSWORD)
        with pytest.raises(WorkError):
            MailConnection(options, SecretReader({}), 5.0).open_folder("INBOX")
