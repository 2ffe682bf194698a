"""FAST collections where pycurl does not load: Scrapy's own handler takes the place of libcurl."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.certificates import Authority
from support.ntlm_site import log_of as ntlm_log
from support.ntlm_site import ntlm_site
from support.project import ROOT, Workspace
from support.requirement import require
from support.site import Site
from support.squid import squid_proxy
from support.tls_site import secured
from support.written import Written, section_of

from ultracrawl.crawl.rendering.browser import PROGRAMS


@pytest.fixture
def source(workspace: Workspace) -> Written:
    return Written(workspace, "fast_xml")


@pytest.fixture
def without(tmp_path: Path) -> dict[str, str]:
    """Return the environment in which pycurl does not load."""
    folder = tmp_path / "lacking"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text('import sys\n\nsys.modules["pycurl"] = None\n')
    return {"PYTHONPATH": f"{folder}:{ROOT}"}


@pytest.mark.parametrize("scheme", ["ntlmv1", "ntlmv2", "auto"])
def test_fast_177_ntlm(source: Written, without: dict[str, str], scheme: str) -> None:
    folder = source.workspace.directory
    with ntlm_site(folder, "CORP\\robot", "correct horse", pages=5) as url:
        value = f"CORP\\robot:correct horse::{scheme}"
        source.define(f"{url}/", {}, inside=section_of("passwd", {f"{url}/private/": value}))
        source.crawl(**without)
    assert source.search("secretword") == [f"/private/{number}" for number in range(5)]
    assert [line for line in ntlm_log(folder) if " NTLM " in line]


@pytest.mark.parametrize("shown", [True, False], ids=["fast_27-fast_28-given", "fast_27-fast_28-not-given"])
def test_a_client_certificate(source: Written, without: dict[str, str], shown: bool) -> None:
    folder = source.workspace.directory
    authority = Authority(folder)
    authority.issue("crawler")
    asks = f'ssl_verify_client optional; ssl_client_certificate "{authority.file}";'
    says = 'if ($ssl_client_verify != SUCCESS) { return 403; } return 200 "needle";'
    with secured(folder, authority, says, server=asks) as (_, address):
        files = {"cert_file": "crawler.pem", "key_file": "crawler.key"} if shown else {}
        source.define(f"{address}/page", {}, {**files, "allowed_schemes": ("https",)})
        source.crawl(code=None, SSL_CERT_FILE=str(authority.file), **without)
    assert source.search("needle") == (["/page"] if shown else [])


def test_fast_25_a_proxy_with_a_password(
    site: Site, url: str, source: Written, without: dict[str, str]
) -> None:
    site.page("/", title="Home", text="needle")
    with squid_proxy("crawler", "s3:cret") as proxy:
        address = proxy.url.removeprefix("http://")
        source.define(f"{url}/", {}, {"proxy": (f"http://crawler:s3:cret@{address}",)})
        source.crawl(**without)
        users = {line[0] for line in proxy.lines() if line[1] == "GET"}
    assert (source.search("needle"), users) == (["/"], {"crawler"})


def test_fast_48_49_scripts_in_chromium(
    site: Site, url: str, source: Written, without: dict[str, str]
) -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    script = 'document.body.innerHTML = "written words <a href=/made>made</a>"'
    body = f"<html><head><title>T</title></head><body>static<script>{script}</script></body></html>"
    site.file("/", body.encode(), "text/html")
    site.page("/made", title="Made", text="needle")
    source.define(
        f"{url}/", {}, {"use_javascript": True, "javascript_keep_html": True, "javascript_delay": 0.0}
    )
    source.crawl(**without)
    assert (source.search("written"), source.search("needle")) == (["/"], ["/made"])


def test_fast_4_ftp_needs_it_and_says_so(url: str, source: Written, without: dict[str, str]) -> None:
    source.define(f"{url}/", {}, {"allowed_schemes": ("http", "ftp")})
    ended = source.command("crawl", **without)
    assert ended.code == 2, ended.err
    assert "handbook: crawling FTP servers needs" in ended.err
    assert "pip install --force-reinstall pycurl" in ended.err
    assert "Traceback" not in ended.err
