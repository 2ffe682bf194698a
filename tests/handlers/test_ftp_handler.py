"""The FTP handler against a real server, and against servers that mean harm."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handlers.conftest import Runner
from pyftpdlib.handlers import FTPHandler
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from support.free_port import free_port
from support.ftp import FtpSite

from ultracrawl.content.ftp_listing import FTP_LISTING
from ultracrawl.handlers.ftp.client import FtpPathRefusedError, ftp_target, media_type_of
from ultracrawl.handlers.ftp.handler import FtpDownloadHandler
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.download_errors.kinds import AddressRefusedError
from ultracrawl.sources.compilation.ftp import FtpAccess, FtpAccount

Get = Callable[..., Response]
WHEN = 1_700_000_000


@pytest.fixture
def get(runner: Runner) -> Get:
    """Fetch a URL with a new handler."""

    def fetch(url: str, access: FtpAccess | None = None, guard: Any = None, **more: Any) -> Response:
        settings = {"DOWNLOAD_TIMEOUT": 3, **more.pop("settings", {})}

        async def run() -> Response:
            handler = FtpDownloadHandler(Crawler(Spider, settings), access, guard)
            try:
                return await handler.download_request(Request(url, **more))
            finally:
                await handler.close()

        response: Response = runner.run(run())
        return response

    return fetch


@pytest.fixture
def ftp(tmp_path: Path) -> FtpSite:
    return FtpSite(tmp_path)


@pytest.mark.parametrize("passive", [True, False], ids=["fast_29_passive", "fast_29_active"])
def test_a_file_comes_in_both_modes(ftp: FtpSite, get: Get, passive: bool) -> None:
    os.utime(ftp.put("sub/a b.html", "<p>body"), (WHEN, WHEN))
    with ftp.serve() as url:
        answer = get(f"{url}/sub/a%20b.html", FtpAccess(passive=passive))
    assert (answer.status, answer.body) == (200, b"<p>body")
    assert answer.headers["Content-Type"] == b"text/html"
    assert answer.headers["Last-Modified"] == b"Tue, 14 Nov 2023 22:13:20 GMT"
    sent = {line.split(" ")[0] for line in ftp.commands}
    assert bool(sent & {"PASV", "EPSV"}) is passive
    assert bool(sent & {"PORT", "EPRT"}) is not passive


@pytest.mark.parametrize("without", [(), ("MLSD",)], ids=["mlsd", "list"])
def test_a_directory_is_a_list_of_urls(ftp: FtpSite, get: Get, without: tuple[str, ...]) -> None:
    ftp.without = without
    for name in ("b.txt", "größe; 1?.txt", "sub/c.txt"):
        ftp.put(f"pub/{name}", "x")
    if without:  # MLSD of this server says where a link leads to
        (ftp.root / "pub" / "up").symlink_to(ftp.root.parent)
    with ftp.serve() as url:
        answer = get(f"{url}/pub/")
    assert answer.headers["Content-Type"] == FTP_LISTING.encode()
    assert answer.body.decode().splitlines() == [
        f"{url}/pub/b.txt",
        f"{url}/pub/gr%C3%B6%C3%9Fe%3B%201%3F.txt",
        f"{url}/pub/sub/",
    ]


def test_a_file_that_did_not_change_is_not_sent(ftp: FtpSite, get: Get) -> None:
    file = ftp.put("a.txt", "one")
    os.utime(file, (WHEN, WHEN))
    with ftp.serve() as url:
        tag = get(f"{url}/a.txt").headers["ETag"]
        same = get(f"{url}/a.txt", headers={"If-None-Match": tag})
        assert (same.status, same.headers["ETag"], ftp.got("RETR")) == (304, tag, ["a.txt"])
        os.utime(file, (WHEN - 1000, WHEN - 1000))  # an older copy took its place
        other = get(f"{url}/a.txt", headers={"If-None-Match": tag})
    assert (other.status, other.body) == (200, b"one")


def test_a_directory_without_its_slash_redirects_to_it(ftp: FtpSite, get: Get) -> None:
    ftp.put("pub/a.txt", "x")
    with ftp.serve() as url:
        answer = get(f"{url}/pub")
    assert (answer.status, answer.headers["Location"]) == (301, f"{url}/pub/".encode())


@pytest.mark.parametrize("path", ["gone.txt", "gone/", "gone/a.txt"])
def test_what_is_not_there_is_404_with_the_reply(ftp: FtpSite, get: Get, path: str) -> None:
    with ftp.serve() as url:
        answer = get(f"{url}/{path}")
    assert (answer.status, answer.headers["X-Ftp-Reply"][:4]) == (404, b"550 ")


def test_fast_178_an_account_is_used_for_its_host_and_path_only(
    ftp: FtpSite, get: Get, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    (private / "in").mkdir(parents=True)
    (private / "in" / "a.txt").write_text("secret")
    ftp.users["mirror"] = ("s3cret", private)
    account = FtpAccount("127.0.0.1", "/in/", "mirror", "s3cret")
    with ftp.serve() as url:
        assert get(f"{url}/in/a.txt", FtpAccess(accounts=(account,))).body == b"secret"
        get(f"{url}/out/a.txt", FtpAccess(email="me@example.com", accounts=(account,)))
        wrong = FtpAccount("127.0.0.1", "/", "mirror", "wrong")
        assert get(f"{url}/in/a.txt", FtpAccess(accounts=(wrong,))).status == 401
    logins = list(zip(ftp.got("USER"), ftp.got("PASS"), strict=True))
    assert logins == [("mirror", "s3cret"), ("anonymous", "me@example.com"), ("mirror", "wrong")]
    assert "s3cret" not in repr(FtpAccess(accounts=(account,)))


def test_a_file_that_is_too_large_is_refused(ftp: FtpSite, get: Get) -> None:
    ftp.put("a.txt", b"x" * 5000)
    with ftp.serve() as url, pytest.raises(DownloadCancelledError):
        get(f"{url}/a.txt", settings={"DOWNLOAD_MAXSIZE": 4000})


def test_p1_the_guard_is_asked_before_the_connection(ftp: FtpSite, get: Get) -> None:
    with ftp.serve() as url, pytest.raises(AddressRefusedError):
        get(f"{url}/a.txt", guard=AddressPolicy())
    assert ftp.commands == []


@pytest.mark.parametrize("epsv", [True, False])
def test_p1_data_come_from_the_server_whatever_its_pasv_reply_says(
    ftp: FtpSite, get: Get, epsv: bool
) -> None:
    class Bouncing(FTPHandler):
        masquerade_address = "10.9.8.7"

    ftp.put("a.txt", "body")
    ftp.without = () if epsv else ("EPSV",)
    with ftp.serve(handler=Bouncing) as url:
        assert get(f"{url}/a.txt").body == b"body"


def test_nobody_is_there(get: Get) -> None:
    with pytest.raises(DownloadConnectionRefusedError):
        get(f"ftp://127.0.0.1:{free_port()}/")


def test_a_server_that_says_nothing_is_given_up(get: Get) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(DownloadTimeoutError):
        get(f"ftp://127.0.0.1:{server.getsockname()[1]}/", settings={"DOWNLOAD_TIMEOUT": 0.3})


def test_active_mode_takes_data_from_the_server_only(get: Get) -> None:
    """A server that lets another host send the data: its connection is closed unread."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        play = Intruder(server)
        thread = threading.Thread(target=play.run)
        thread.start()
        with pytest.raises(DownloadFailedError):
            get(f"ftp://127.0.0.1:{server.getsockname()[1]}/a", FtpAccess(passive=False))
        thread.join(5)
    assert play.words[-1] == "RETR"


class Intruder:
    """Plays a server until the client has gone; from the port that waits for data it is served from elsewhere."""

    def __init__(self, server: socket.socket) -> None:
        self.words: list[str] = []
        self._server = server
        self._replies = {"USER": "331 password", "PASS": "230 in", "PWD": '257 "/"', "RETR": "150 coming"}

    def run(self) -> None:
        commands, _ = self._server.accept()
        port = 0
        with commands, commands.makefile("rw", newline="\r\n") as wire, contextlib.suppress(OSError):
            wire.write("220 ready\r\n")
            wire.flush()
            for line in wire:
                self.words.append(line.split()[0])
                wire.write(self._replies.get(self.words[-1], "200 ok") + "\r\n")
                wire.flush()
                if self.words[-1] == "EPRT":
                    port = int(line.split("|")[3])
                elif self.words[-1] == "RETR":
                    self._inject(port)

    @staticmethod
    def _inject(port: int) -> None:
        with socket.socket() as other, contextlib.suppress(OSError):
            other.bind(("127.0.0.2", 0))
            other.connect(("127.0.0.1", port))
            other.sendall(b"injected")


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("ftp://h", "ftp://h/"),
        ("ftp://h:2121/a/b.txt", "ftp://h:2121/a/b.txt"),
        ("ftp://h//etc/passwd", "ftp://h/etc/passwd"),
        ("ftp://h/a;type=d", "ftp://h/a%3Btype%3Dd"),
        ("ftp://h/a?b", "ftp://h/a%3Fb"),
        ("ftp://h/a%20b/", "ftp://h/a%20b/"),
        ("ftp://h/%2Fetc/passwd", None),
        ("ftp://h/a%2F..%2F..%2Fb", None),
        ("ftp://h/%2e%2e/b", None),
        ("ftp://h/a%0D%0ADELE%20b", None),
        ("ftp://h/a%00b", None),
    ],
)
def test_paths_lead_to_names_below_the_login_only(url: str, target: str | None) -> None:
    if target is None:
        with pytest.raises(FtpPathRefusedError):
            ftp_target(url)
    else:
        assert ftp_target(url) == target


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.HTML", "text/html"),
        ("a.pdf", "application/pdf"),
        ("a.tar.gz", "application/gzip"),
        ("README", ""),
        ("a.iso.xz", "application/x-xz"),
        ("a.csv", "text/csv"),
    ],
)
def test_the_name_says_what_a_file_is(name: str, media_type: str) -> None:
    assert media_type_of(f"ftp://h/d/{name}") == media_type
