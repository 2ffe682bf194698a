"""Folders of SSH servers: whom they are from, and who may read what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from support.clock import wall_time
from support.remote_site import PASSWORD, USER
from support.sftp import SftpSite

from ultracrawl.agents.file.entries import group_name, user_name
from ultracrawl.agents.file.fetcher import FileFetcher
from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.remote.sftp import _remote_file
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Batch, Complete, Entry, Failure, KindSetup, Partial, Wanted
from ultracrawl.rules.access.readers import NOBODY
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SftpSite]:
    root = tmp_path / "served"
    root.mkdir()
    with SftpSite(root).serve() as served:
        served.put("docs/a.txt")
        yield served


def setup_of(site: SftpSite, base: Path = Path("/"), **options: Any) -> KindSetup[FileSection]:
    connection = options.pop("connection", {})
    section = FileSection(**{**site.options(**connection), **options})
    return KindSetup(section, DataSource(name="s"), base, SecretReader({"FILES_PASSWORD": PASSWORD}))


def end_of_listing(setup: KindSetup[FileSection]) -> Complete | Partial:
    lister = FileLister(setup)
    *_, last = lister.list_entries("", "")  # type: ignore[misc]
    lister.close()
    assert isinstance(last, Complete | Partial)
    return last


def one_entry(setup: KindSetup[FileSection]) -> Entry:
    lister = FileLister(setup)
    (batch, _) = lister.list_entries("", "")  # type: ignore[misc]
    lister.close()
    assert isinstance(batch, Batch)
    (entry,) = batch.entries
    return entry


# ---- host keys


def test_a_host_key_that_nothing_names_is_refused_before_the_password_is_sent(
    site: SftpSite, tmp_path: Path
) -> None:
    (tmp_path / "known_hosts").write_text("")
    end = end_of_listing(
        setup_of(site, connection={"host_keys": None, "known_hosts": str(tmp_path / "known_hosts")})
    )
    assert isinstance(end, Partial)
    assert end.mistake
    assert site.fingerprint in end.reason
    assert site.logins == 0


@pytest.mark.parametrize("known", [True, False])
def test_a_file_of_known_hosts_says_which_key_is_trusted(site: SftpSite, tmp_path: Path, known: bool) -> None:
    port = site.url.rstrip("/").rpartition(":")[2]
    key = site.host_key if known else asyncssh.generate_private_key("ssh-ed25519")
    line = f"[127.0.0.1]:{port} {key.export_public_key().decode()}"
    (tmp_path / "known_hosts").write_text(line)
    end = end_of_listing(
        setup_of(site, tmp_path, connection={"host_keys": None, "known_hosts": "known_hosts"})
    )
    assert (isinstance(end, Complete), site.logins) == (known, int(known))


def test_another_key_than_the_pinned_one_is_refused_even_if_it_is_known(
    site: SftpSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = site.url.rstrip("/").rpartition(":")[2]
    (tmp_path / ".ssh").mkdir()
    line = f"[127.0.0.1]:{port} {site.host_key.export_public_key().decode()}"
    (tmp_path / ".ssh" / "known_hosts").write_text(line)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert isinstance(end_of_listing(setup_of(site, connection={"host_keys": None})), Complete)
    pinned = asyncssh.generate_private_key("ssh-ed25519").get_fingerprint("sha256")
    assert isinstance(end_of_listing(setup_of(site, connection={"host_keys": pinned})), Partial)


def test_a_file_of_known_hosts_that_is_not_there_is_a_mistake(site: SftpSite) -> None:
    end = end_of_listing(setup_of(site, connection={"host_keys": None, "known_hosts": "/nowhere"}))
    assert isinstance(end, Partial)
    assert end.mistake


# ---- users


@pytest.mark.parametrize("passphrase", [None, "long-words-7"])
def test_a_private_key_is_enough(site: SftpSite, tmp_path: Path, passphrase: str | None) -> None:
    site.user_key = asyncssh.generate_private_key("ssh-ed25519")
    (tmp_path / "id").write_bytes(site.user_key.export_private_key("openssh", passphrase))
    connection = {"password": None, "private_key": f"file:{tmp_path / 'id'}", "passphrase": passphrase}
    assert isinstance(end_of_listing(setup_of(site, connection=connection)), Complete)
    if passphrase:
        wrong = end_of_listing(setup_of(site, connection={**connection, "passphrase": "other-words-7"}))
        assert isinstance(wrong, Partial)
        assert wrong.mistake
        assert "words-7" not in wrong.reason


# ---- links, owners, readers


def test_no_link_is_followed_below_the_folder(site: SftpSite) -> None:
    site.put("outside/b.txt")
    os.symlink("../outside/b.txt", site.root / "docs" / "b.txt")
    os.symlink("../outside", site.root / "docs" / "c")
    os.mkfifo(site.root / "docs" / "pipe")
    setup = setup_of(site)
    assert one_entry(setup).name == "a.txt"
    fetcher = FileFetcher(setup)
    found = fetcher.fetch([Wanted(f"{site.url}docs/{name}") for name in ("b.txt", "c/b.txt", "pipe")])
    fetcher.close()
    assert [one.status for one in found if isinstance(one, Failure)] == [403, 403, 404]  # type: ignore[union-attr]
    assert site.opened == []


def test_a_link_may_lead_to_the_folder_itself(site: SftpSite) -> None:
    os.symlink("docs", site.root / "current")
    setup = setup_of(site, **site.options("current"))
    entry = one_entry(setup)
    fetcher = FileFetcher(setup)
    (found,) = fetcher.fetch([Wanted(entry.access_url, entry)])  # type: ignore[misc]
    fetcher.close()
    assert isinstance(found, Entry)


@pytest.mark.parametrize(
    ("mode", "owner", "group", "readers"),
    [
        (0o100640, "games", "games", ("user:games", "group:games")),
        (0o100600, "games", "games", ("user:games",)),
        (0o100600, None, "games", (NOBODY,)),
        (0o100640, None, None, (NOBODY,)),
        (0o100644, None, None, ()),
    ],
)
def test_a_file_of_unknown_accounts_is_not_for_everybody(
    mode: int, owner: str | None, group: str | None, readers: tuple[str, ...]
) -> None:
    told = asyncssh.SFTPAttrs(permissions=mode, owner=owner, group=group, size=1)
    found = _remote_file(b"/a.txt", told)
    assert found is not None
    assert found.readers == readers


def test_permissions_become_principals_and_a_change_of_them_is_seen(site: SftpSite) -> None:
    file = site.root / "docs" / "a.txt"
    owner, group = user_name(file.stat().st_uid), group_name(file.stat().st_gid)
    told, validators = {}, set()
    for mode in (0o644, 0o640, 0o600):
        file.chmod(mode)
        entry = one_entry(setup_of(site, permissions=True))
        told[mode] = entry.acl
        validators.add(entry.validators)
        assert entry.owner == owner
        assert one_entry(setup_of(site)).acl == ()
    assert told == {0o644: (), 0o640: (f"user:{owner}", f"group:{group}"), 0o600: (f"user:{owner}",)}
    assert len(validators) == 3


def test_the_url_of_a_document_has_no_user(site: SftpSite) -> None:
    setup = setup_of(site, display_url={site.url.replace("//", f"//{USER}@"): "https://files.example.com/"})
    entry = one_entry(setup)
    assert (entry.access_url, entry.display_url) == (
        f"{site.url}docs/a.txt",
        "https://files.example.com/docs/a.txt",
    )


def test_a_file_that_changes_twice_in_a_second_is_seen_to_have_changed(site: SftpSite) -> None:
    """Times of SFTP are whole seconds."""
    file = site.root / "docs" / "a.txt"
    now = int(wall_time())
    os.utime(file, (now, now))
    young = one_entry(setup_of(site))
    os.utime(file, (now - 60, now - 60))
    old = one_entry(setup_of(site))
    assert young.validators.replace(str(now), str(now - 60)) != old.validators
    assert one_entry(setup_of(site)).validators == old.validators


def test_a_file_is_what_it_is_when_it_is_read_and_not_when_it_was_listed(site: SftpSite) -> None:
    setup = setup_of(site, permissions=True)
    before = one_entry(setup)
    site.put("docs/a.txt", "longer words")
    after = one_entry(setup)
    fetcher = FileFetcher(setup)
    (read,) = fetcher.fetch([Wanted(before.access_url, before)])  # type: ignore[misc]
    fetcher.close()
    assert isinstance(read, Entry)
    assert (read.last_modified, read.attributes, read.validators) == (
        after.last_modified,
        after.attributes,
        after.validators,
    )


def test_the_longest_prefix_of_a_remote_url_is_replaced__ultra_search_33(site: SftpSite) -> None:
    shown = {
        site.url: "https://webhost/",
        f"{site.url}docs/": "https://webhost/client/",
        "file:///": "https://other/",
    }
    assert one_entry(setup_of(site, display_url=shown)).display_url == "https://webhost/client/a.txt"
