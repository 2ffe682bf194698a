"""Shares of a real Samba: who may read a file, encryption, guests, and connections that end at any moment."""

from __future__ import annotations

import os
import pwd
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.remote_site import PASSWORD
from support.samba import ACCOUNT, SambaSite

from ultracrawl.agents.file.fetcher import FileFetcher
from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Batch, Complete, Entry, Failure, KindSetup, Listed, Partial, Wanted
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader

pytestmark = pytest.mark.servers
ADM = 4
READER = f"FILES\\{ACCOUNT}"


@pytest.fixture
def samba() -> Iterator[Callable[..., SambaSite]]:
    """Serve a directory with settings of the server, encrypted unless said otherwise."""
    with ExitStack() as stack:

        def serve(settings: str = "", *, encryption: bool | None = None) -> SambaSite:
            site = stack.enter_context(SambaSite(settings, encryption=encryption).serve())
            site.put("docs/a.txt")
            return site

        yield serve


def setup_of(site: SambaSite, **options: Any) -> KindSetup[FileSection]:
    connection = options.pop("connection", {})
    section = FileSection(**{**site.options(**connection), **options})
    return KindSetup(section, DataSource(name="s"), Path("/"), SecretReader({"FILES_PASSWORD": PASSWORD}))


def listed(setup: KindSetup[FileSection]) -> list[Listed]:
    lister = FileLister(setup)
    try:
        return list(lister.list_entries("", ""))  # type: ignore[arg-type]
    finally:
        lister.close()


def entries(setup: KindSetup[FileSection]) -> dict[str, Entry]:
    batches = [one for one in listed(setup) if isinstance(one, Batch)]
    return {entry.name: entry for batch in batches for entry in batch.entries}


def fetched(setup: KindSetup[FileSection], *wanted: Wanted) -> list[Entry | Failure]:
    fetcher = FileFetcher(setup)
    try:
        return list(fetcher.fetch(wanted))  # type: ignore[arg-type]
    finally:
        fetcher.close()


# ---- what is required of a connection


def test_files_are_sent_encrypted_unless_the_definition_says_otherwise(
    samba: Callable[..., SambaSite],
) -> None:
    site = samba()
    seen: list[str] = []
    site.before_opening = lambda path: seen.append("in clear")
    (read,) = fetched(setup_of(site), Wanted(f"{site.url}docs/a.txt"))
    assert isinstance(read, Entry)
    assert seen == []
    (read,) = fetched(setup_of(site, connection={"encryption": False}), Wanted(f"{site.url}docs/a.txt"))
    assert isinstance(read, Entry)
    assert seen == ["in clear"]


@pytest.mark.parametrize("settings", ["smb encrypt = off", "server max protocol = SMB2"])
def test_a_server_that_cannot_encrypt_is_a_mistake_until_clear_text_is_allowed(
    samba: Callable[..., SambaSite], settings: str
) -> None:
    site = samba(settings)
    *_, end = listed(setup_of(site))
    assert isinstance(end, Partial)
    assert end.mistake
    assert "encryption" in end.reason
    assert isinstance(listed(setup_of(site, connection={"encryption": False}))[-1], Complete)


def test_a_server_of_the_first_version_is_refused(samba: Callable[..., SambaSite]) -> None:
    site = samba("server min protocol = NT1\nserver max protocol = NT1")
    *_, end = listed(setup_of(site, connection={"encryption": False}))
    assert isinstance(end, Partial)


def test_a_user_who_would_become_a_guest_is_refused(samba: Callable[..., SambaSite]) -> None:
    site = samba("map to guest = Bad User\nguest ok = yes")
    for encryption in (True, False):
        options = site.options(encryption=encryption)
        options["paths"] = [path.replace("//reader@", "//stranger@") for path in options["paths"]]
        *_, end = listed(setup_of(site, **options))
        assert isinstance(end, Partial)
        assert end.mistake


# ---- owners and readers


def test_permissions_become_principals_and_a_change_of_them_is_seen(samba: Callable[..., SambaSite]) -> None:
    site = samba()
    file = site.root / "docs" / "a.txt"
    os.chown(file, pwd.getpwnam(ACCOUNT).pw_uid, ADM)
    told, validators = {}, set()
    for mode in (0o644, 0o640, 0o600):
        file.chmod(mode)
        (entry,) = entries(setup_of(site, permissions=True)).values()
        told[mode] = entry.acl
        validators.add(entry.validators)
        assert entry.owner == READER
        (read,) = fetched(setup_of(site, permissions=True), Wanted(entry.access_url))
        assert isinstance(read, Entry)
        assert (read.owner, read.acl, read.validators) == (entry.owner, entry.acl, entry.validators)
    assert told == {0o644: (), 0o640: (f"user:{READER}", r"group:Unix Group\adm"), 0o600: (f"user:{READER}",)}
    assert len(validators) == 3
    (entry,) = entries(setup_of(site)).values()
    assert (entry.owner, entry.acl) == ("", ())


def test_a_number_without_an_account_stays_an_identifier(samba: Callable[..., SambaSite]) -> None:
    site = samba()
    file = site.root / "docs" / "a.txt"
    os.chown(file, 54321, ADM)
    (entry,) = entries(setup_of(site, permissions=True)).values()
    assert entry.owner.endswith("54321")


def test_a_file_that_the_user_may_not_read_is_refused(samba: Callable[..., SambaSite]) -> None:
    site = samba()
    file = site.root / "docs" / "a.txt"
    file.chmod(0o600)
    (found,) = fetched(setup_of(site), Wanted(f"{site.url}docs/a.txt"))
    assert isinstance(found, Failure)
    assert found.status == 403


# ---- names, links, shares


@pytest.mark.parametrize(
    "url", ["docs%5Ca.txt", "docs/..%5Cother/b.txt", "docs/a.txt:$DATA", "docs/a.txt%FF"]
)
def test_a_name_that_would_lead_elsewhere_is_not_requested(samba: Callable[..., SambaSite], url: str) -> None:
    site = samba(encryption=False)
    site.put("other/b.txt")
    (found,) = fetched(setup_of(site, **site.options("")), Wanted(site.url + url))
    assert isinstance(found, Failure)
    assert found.status == 404
    assert site.opened == []


def test_a_share_that_is_gone_makes_a_listing_partial(samba: Callable[..., SambaSite]) -> None:
    site = samba()
    site.url = site.url.replace("/files/", "/absent/")
    *_, end = listed(setup_of(site))
    assert isinstance(end, Partial)
    assert "/absent/docs" in end.reason


def test_a_link_that_leads_out_of_the_share_is_not_followed(
    samba: Callable[..., SambaSite], tmp_path: Path
) -> None:
    site = samba()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.txt").write_text("words")
    os.symlink(tmp_path / "outside", site.root / "docs" / "c")
    os.symlink(tmp_path / "outside" / "b.txt", site.root / "docs" / "b.txt")
    assert list(entries(setup_of(site))) == ["a.txt"]
    found = fetched(setup_of(site), *(Wanted(f"{site.url}docs/{name}") for name in ("b.txt", "c/b.txt")))
    assert all(isinstance(one, Failure) for one in found)


# ---- lost connections


@pytest.mark.parametrize("permissions", [False, True])
def test_a_connection_that_ends_at_any_moment_makes_a_listing_partial(
    samba: Callable[..., SambaSite], permissions: bool
) -> None:
    site = samba()
    for number in range(3):
        site.put(f"docs/{number}/b.txt")
    setup = setup_of(site, permissions=permissions)
    whole = set(entries(setup))
    for answers in range(100):
        site.answers_left = answers
        *batches, end = listed(setup)
        if isinstance(end, Complete):
            break
        assert isinstance(end, Partial)
        assert not end.mistake, (answers, end.reason)
    found = {entry.name for batch in batches if isinstance(batch, Batch) for entry in batch.entries}
    assert 10 < answers < 100
    assert found == whole


def test_a_password_is_in_no_message_about_a_connection(samba: Callable[..., SambaSite]) -> None:
    site = samba()
    for answers in range(4):
        site.answers_left = answers
        *_, end = listed(setup_of(site))
        assert isinstance(end, Partial)
        assert PASSWORD not in end.reason
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    site.move_to(port)
    *_, end = listed(setup_of(site))
    assert isinstance(end, Partial)
    assert not end.mistake
