"""FTP servers crawled: directories, unchanged and vanished files, accounts, error rules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.ftp import FtpSite
from support.project import ANY_PORT, Workspace
from support.site import Site

SCHEMES = {"schemes": ["ftp"]}
WHEN = 1_700_000_000


@pytest.fixture
def ftp(tmp_path: Path) -> FtpSite:
    root = tmp_path / "served"
    root.mkdir()
    site = FtpSite(root)
    site.put("pub/index.html", "<title>Home</title><a href=deep/far.html>far</a> needle")
    site.put("pub/notes.txt", "plain needle")
    site.put("pub/deep/far.html", "<title>Far</title> needle")
    site.put("pub/disk.iso", b"\0" * 100_000)
    site.put("private/hidden.txt", "needle")
    for file in root.rglob("*.*"):
        os.utime(file, (WHEN, WHEN))
    return site


@pytest.fixture
def address(ftp: FtpSite) -> Iterator[str]:
    with ftp.serve() as url:
        yield url


def define(workspace: Workspace, start: str, **options: Any) -> None:
    paths = {"127.0.0.1": {"include": ["/pub"]}}
    workspace.define(start, boundary={**SCHEMES, "paths": paths}, **options)


@pytest.mark.parametrize("passive", [True, False], ids=["fast_29_passive", "fast_29_active"])
@pytest.mark.parametrize("start", ["/pub/", "/pub"])
def test_portal_5_a_directory_yields_its_files_and_no_document(
    ftp: FtpSite, address: str, workspace: Workspace, passive: bool, start: str
) -> None:
    # one connection after the other: with several in active mode, pyftpdlib forgets some until they time out
    single = {"delay": 0, "concurrency": 1}
    define(workspace, address + start, ftp={"passive": passive}, politeness=single, sitemaps={"use": False})
    run = workspace.crawl().run
    assert workspace.indexed() == ["/pub/deep/far.html", "/pub/index.html", "/pub/notes.txt"]
    assert workspace.search("needle") != []
    rows = workspace.urls()
    assert rows["/pub/"]["reason"] == "directory with 4 entries"
    assert rows["/pub/disk.iso"]["outcome"] == "NOT_INDEXED"
    assert "disk.iso" not in " ".join(ftp.got("RETR")), "its name says enough"
    assert "/private/hidden.txt" not in rows, "outside the boundary"
    assert run["problems"] == []


def test_a_second_run_gets_only_what_changed(ftp: FtpSite, address: str, workspace: Workspace) -> None:
    define(workspace, f"{address}/pub/")
    workspace.crawl()
    ftp.commands.clear()
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 3, "LIST": 2, "NOT_INDEXED": 1}
    assert ftp.got("RETR") == []
    ftp.put("pub/notes.txt", "other words")
    ftp.put("pub/new.txt", "needle")
    (ftp.root / "pub" / "deep" / "far.html").unlink()
    outcomes = workspace.crawl().run["outcomes"]
    assert (outcomes["MODIFIED"], outcomes["NEW"], outcomes["GONE"]) == (1, 1, 1)
    assert workspace.indexed() == ["/pub/index.html", "/pub/new.txt", "/pub/notes.txt"]
    assert workspace.urls()["/pub/deep/far.html"]["status_code"] == 404


@pytest.mark.parametrize(
    ("rules", "outcome", "asked"),
    [
        ({"550": "DELETE"}, "GONE", 2),
        ({"550": "DELETE:0"}, "GONE", 2),
        ({"550": "KEEP, RETRY:2"}, "HTTP_ERROR", 6),
        ({"5xx": "DELETE:3"}, "HTTP_ERROR", 2),
        ({"4xx": "DELETE"}, "HTTP_ERROR", 2),
    ],
    ids=["fast_142_550", "fast_142_550_0", "fast_147_keep", "fast_143_5xx_3", "fast_141_4xx_is_another"],
)
def test_errors_go_by_their_reply(
    ftp: FtpSite, address: str, workspace: Workspace, rules: dict[str, str], outcome: str, asked: int
) -> None:
    define(workspace, f"{address}/pub/notes.txt", errors={"ftp": rules, "http": {"404": "DELETE"}})
    workspace.crawl()
    (ftp.root / "pub" / "notes.txt").unlink()
    ftp.commands.clear()
    workspace.crawl(code=1)
    row = workspace.urls()["/pub/notes.txt"]
    assert (row["outcome"], row["status_code"]) == (outcome, 404)
    assert "FTP 550" in row["reason"]
    assert len([name for name in (*ftp.got("SIZE"), *ftp.got("RETR")) if "notes" in name]) >= asked // 2


@pytest.mark.parametrize("search", [True, False], ids=["fast_46_yes", "fast_46_no"])
def test_links_in_documents_are_followed_or_not(
    ftp: FtpSite, address: str, workspace: Workspace, search: bool
) -> None:
    ftp.put("pub/deep/far.html", f"<a href={address}/pub/.hidden/x.html>x</a>")
    ftp.put("pub/.hidden/x.html", "needle")
    define(workspace, f"{address}/pub/deep/", ftp={"search_links": search})
    workspace.crawl()
    assert ("/pub/.hidden/x.html" in workspace.indexed()) is search
    assert "/pub/deep/far.html" in workspace.indexed(), "directories are always followed"


def test_an_account_of_the_environment_or_a_file(ftp: FtpSite, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "word").write_text("s3cret\n")
    ftp.users["mirror"] = ("s3cret", ftp.root)
    account = {"host": "127.0.0.1", "user": "mirror", "password": "${FTP_TEST_WORD}"}
    with ftp.serve() as address:
        define(workspace, f"{address}/pub/notes.txt", ftp={"accounts": {"mirror": account}})
        ended = workspace.command("crawl", "--json")
        problem = "ftp.accounts.mirror.password: the environment variable FTP_TEST_WORD is not set"
        assert (ended.code, problem in ended.err) == (2, True)
        said = [workspace.crawl(FTP_TEST_WORD="s3cret").out]
        assert workspace.indexed() == ["/pub/notes.txt"]
        account["password"] = f"file:{tmp_path / 'word'}"
        define(workspace, f"{address}/pub/index.html", ftp={"accounts": {"mirror": account}})
        said.append(workspace.crawl().err)
    assert (set(ftp.got("USER")), set(ftp.got("PASS"))) == ({"mirror"}, {"s3cret"})
    written = [path.read_bytes() for path in (workspace.directory / "var").rglob("*") if path.is_file()]
    assert not [one for one in (*written, *map(str.encode, said)) if b"s3cret" in one]


def test_p3_a_page_cannot_lead_to_ftp_unless_the_source_says_so(
    ftp: FtpSite, address: str, site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", links=[f"{address}/pub/notes.txt", "/moved"], text="needle")
    site.redirect("/moved", f"{address}/pub/index.html", status=302)
    workspace.define(f"{url}/")
    workspace.crawl()
    assert ftp.commands == []
    lets_ftp = {
        "schemes": ["http", "ftp"],
        "domains": {"include": ["127.0.0.1"]},
        "ports": ANY_PORT,
    }
    workspace.define(f"{url}/", boundary=lets_ftp)
    workspace.crawl()
    assert "/pub/notes.txt" in workspace.indexed()


def test_robots_txt_of_the_server_is_obeyed(ftp: FtpSite, address: str, workspace: Workspace) -> None:
    ftp.put("robots.txt", "User-agent: *\nDisallow: /pub/deep/\n")
    define(workspace, f"{address}/pub/")
    workspace.crawl()
    assert workspace.indexed() == ["/pub/index.html", "/pub/notes.txt"]
