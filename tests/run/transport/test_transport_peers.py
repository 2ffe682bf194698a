"""Proxies, FTP servers and a browser that others wrote, each used by a source in YAML and by one in the XML of FAST."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.certificates import Authority
from support.free_port import free_port
from support.ftp import FtpSite
from support.project import Workspace
from support.requirement import require
from support.site import Site
from support.squid import squid_proxy
from support.tls_site import secured
from support.written import LANGUAGES, Written, section_of

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

SECRET = "proxy:secret&1"


@pytest.fixture(params=LANGUAGES)
def source(request: pytest.FixtureRequest, workspace: Workspace) -> Written:
    return Written(workspace, request.param)


def pages(site: Site, count: int = 4) -> list[str]:
    paths = [f"/{number}" for number in range(count)]
    site.page("/", title="Home", links=paths)
    for path in paths:
        site.page(path, title=path, text="needle")
    return paths


# ---- fast_25: squid


@pytest.mark.parametrize("given", [SECRET, "another", ""], ids=["right", "wrong", "none"])
def test_fast_25_squid_wants_a_password(site: Site, url: str, source: Written, given: str) -> None:
    paths = pages(site)
    with squid_proxy("crawler", SECRET) as proxy:
        server = {"url": proxy.url, **({"user": "crawler", "password": "${PROXY_PASSWORD}"} if given else {})}
        before = f"crawler:{given}@" if given else ""
        source.define(
            f"{url}/",
            {"proxy": {"servers": {"squid": server}}},
            {"proxy": (f"http://{before}{proxy.url.removeprefix('http://')}",)},
        )
        source.crawl(code=0 if given == SECRET else None, PROXY_PASSWORD=given or "none")
        lines = proxy.lines()
    if given == SECRET:
        assert source.search("needle") == paths
        assert {line[0] for line in lines if line[1] == "GET"} == {"crawler"}
        assert all("squid" in (one.header("Via") or "") for one in site.requests)
        assert {one.header("Proxy-Authorization") for one in site.requests} == {None}
    else:
        assert site.requests == []
        assert {status for *_, status in lines if status} == {407}


def test_fast_25_a_tunnel_through_squid(source: Written) -> None:
    folder = source.workspace.directory
    authority = Authority(folder)
    says = 'return 200 "needle [$http_proxy_authorization$http_authorization]";'
    with squid_proxy("crawler", SECRET) as proxy, secured(folder, authority, says) as (_, address):
        entry = {"url": f"{address}/page", "user": "robot", "password": "${P}", "scheme": "digest"}
        source.define(
            f"{address}/page",
            {
                "types": ["text/plain"],
                "proxy": {"servers": {"squid": {"url": proxy.url, "user": "crawler", "password": "${P}"}}},
                "authentication": {"site": entry},
            },
            {
                "proxy": (f"crawler:{SECRET}@{proxy.url.removeprefix('http://')}",),
                "allowed_schemes": ("https",),
            },
            inside=section_of("passwd", {f"{address}/page": "robot:site-secret::digest"}),
        )
        source.crawl(P=SECRET, SSL_CERT_FILE=str(authority.file))
        lines = proxy.lines()
    assert source.search("needle") == ["/page"]
    assert {(user, method) for user, method, *_ in lines if method != "-"} == {("crawler", "CONNECT")}
    (hit,) = source.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert "[]" in hit["snippet"]


# ---- fast_25: a proxy that hangs


@contextmanager
def silent_proxy() -> Iterator[tuple[str, list[socket.socket]]]:
    """Take connections and never answer; gives the address and what was taken."""
    taken: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", free_port()))

    def take() -> None:
        while True:
            try:
                taken.append(listener.accept()[0])
            except OSError:
                return

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", taken
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
        for one in taken:
            one.close()


def test_fast_25_a_proxy_that_hangs_is_left_alone(site: Site, url: str, source: Written) -> None:
    paths = pages(site, 6)
    with squid_proxy() as good, silent_proxy() as (hanging, taken):
        source.define(
            f"{url}/",
            {
                "proxy": {"servers": {"a": {"url": hanging}, "b": {"url": good.url}}},
                "limits": {"timeout": 5, "retries": 0},
                "robots": {"timeout": 5},
                "sitemaps": {"discover": False},
            },
            {"proxy": (hanging, good.url), "fetch_timeout": 5, "robots_timeout": 5},
        )
        run = source.crawl()
        assert source.search("needle") == paths
        assert run["outcomes"] == {"NEW": 7}, "what timed out went through the other one"
        assert len(taken) <= 2, "it was left alone after the first time-out"
    (log,) = source.workspace.directory.rglob("*.run-*.log")
    assert log.read_text().count(" failed: ") == 1


def test_a_silent_server_is_not_blamed_on_its_proxy(site: Site, url: str, workspace: Workspace) -> None:
    pages(site, 6)
    site.respond("/3", delay=30)
    with squid_proxy() as one, squid_proxy() as two:
        servers = {"one": {"url": one.url}, "two": {"url": two.url}}
        workspace.define(
            f"{url}/",
            proxy={"servers": servers},
            limits={"timeout": 5, "retries": 0},
            politeness={"delay": 0.05, "concurrency": 4},
        )
        run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 6, "NETWORK_ERROR": 1}
    assert site.count("/3") <= 2


# ---- fast_29, fast_46, fast_178: FTP


@pytest.mark.parametrize("passive", [True, False], ids=["fast_29-passive", "fast_29-active"])
def test_fast_178_an_account_in_both_modes(source: Written, tmp_path: Path, passive: bool) -> None:
    root = tmp_path / "served"
    root.mkdir()
    ftp = FtpSite(root)
    ftp.put("pub/a.html", "<title>A</title> needle")
    ftp.users["mirror"] = ("s3:cret", root)
    with ftp.serve() as url:
        account = {"host": "127.0.0.1", "user": "mirror", "password": "${P}"}
        source.define(
            f"{url}/pub/",
            {"boundary": {"schemes": ["ftp"]}, "ftp": {"passive": passive, "accounts": {"m": account}}},
            {"allowed_schemes": ("ftp",), "ftp_passive": passive, "ftp_acct/127.0.0.1": "mirror:s3:cret"},
        )
        source.crawl(P="s3:cret")
    assert source.search("needle") == ["/pub/a.html"]
    assert set(ftp.got("USER")) == {"mirror"}
    words = {line.split(" ")[0] for line in ftp.commands}
    assert bool(words & {"PASV", "EPSV"}) is passive
    assert bool(words & {"PORT", "EPRT"}) is not passive


@pytest.mark.parametrize("search", [True, False], ids=["fast_46-yes", "fast_46-no"])
def test_links_in_documents_of_ftp_servers(source: Written, tmp_path: Path, search: bool) -> None:
    root = tmp_path / "served"
    root.mkdir()
    ftp = FtpSite(root)
    ftp.put("pub/a.html", "<title>A</title> needle <a href=/more/b.html>b</a>")
    ftp.put("more/b.html", "<title>B</title> needle")
    with ftp.serve() as url:
        source.define(
            f"{url}/pub/",
            {"boundary": {"schemes": ["ftp"]}, "ftp": {"search_links": search}},
            {"allowed_schemes": ("ftp",), "ftp_searchlinks": search},
        )
        source.crawl()
    assert source.search("needle") == (["/more/b.html", "/pub/a.html"] if search else ["/pub/a.html"])


# ---- fast_48 to fast_50: Chromium


@pytest.mark.parametrize(
    ("use", "keep", "words", "linked"),
    [
        pytest.param(False, False, "static", False, id="fast_48-no"),
        pytest.param(True, False, "static", True, id="fast_48-yes-fast_49-no"),
        pytest.param(True, True, "written", True, id="fast_49-yes"),
    ],
)
def test_a_page_that_its_script_writes(
    site: Site, url: str, source: Written, use: bool, keep: bool, words: str, linked: bool
) -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    script = 'document.body.innerHTML = "written words <a href=/made>made</a>"'
    body = f"<html><head><title>T</title></head><body>static words<script>{script}</script></body></html>"
    site.file("/", body.encode(), "text/html")
    site.page("/made", title="Made", text="needle")
    javascript: dict[str, Any] = {"use": use, "keep_html": keep}
    source.define(
        f"{url}/",
        {"javascript": javascript},
        {"use_javascript": use, "javascript_keep_html": keep, "javascript_delay": 0.0},
    )
    source.crawl(code=0 if use else 1)  # 1: without its scripts it has next to no text
    assert source.search(words) == ["/"]
    assert source.search("needle") == (["/made"] if linked else [])
