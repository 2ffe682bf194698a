"""What requests look like, in real crawls by both download handlers: headers, cookies, certificates, HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.certificates import Authority
from support.network import NetworkSite
from support.project import Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request
from support.site import Site
from support.tls_site import secured


def heads(site: Site, name: str) -> dict[str, str | None]:
    """Return a header of the last request for each path."""
    return {request.path: request.header(name) for request in site.requests}


# ---- headers


def test_fast_24_every_request_has_the_headers(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a"])
    site.page("/a", title="A")
    workspace.define(f"{url}/", headers={"X-Team": "search", "accept": "text/html"})
    workspace.crawl()
    assert set(heads(site, "X-Team").values()) == {"search"}
    assert set(heads(site, "Accept").values()) == {"text/html"}


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        pytest.param("Authorization", sentence("http.would_sent_every_server"), id="P4-authorization"),
        pytest.param("cookie", sentence("http.would_sent_every_server"), id="P4-cookie"),
        pytest.param("User-Agent", sentence("http.option_own"), id="user-agent"),
        pytest.param("Content-Length", sentence("http.made_crawler_itself"), id="framing"),
        pytest.param("Host", sentence("http.made_crawler_itself"), id="host"),
        pytest.param("a b", sentence("http.not_name_header"), id="no-name"),
    ],
)
def test_headers_that_cannot_be_set(workspace: Workspace, header: str, problem: str) -> None:
    workspace.define("http://127.0.0.1/", headers={header: "x"})
    ended = workspace.command("lint")
    assert ended.code == 2
    assert problem in ended.out + ended.err


def test_a_header_cannot_smuggle_another(workspace: Workspace) -> None:
    workspace.define("http://127.0.0.1/", headers={"X-A": "1\r\nX-B: 2"})
    assert workspace.command("lint").code == 2


def test_p4_site_headers_go_to_their_prefix_only(site: Site, url: str, workspace: Workspace) -> None:
    other = NetworkSite()
    other.page("/api/x", title="X")
    with other.serve(host="127.0.0.2") as elsewhere:
        site.page(
            "/", title="Home", links=["/api/a", "/api/deep/b", "/apis", f"{elsewhere}/api/x", "/api/out"]
        )
        for path in ("/api/a", "/api/deep/b", "/apis"):
            site.page(path, title=path)
        site.redirect("/api/out", f"{elsewhere}/api/y", status=302)
        entries = {
            "api": {"url": f"{url}/api/", "headers": {"X-Api-Key": "${KEY}", "X-Level": "1"}},
            "deep": {"url": f"{url}/api/deep/", "headers": {"x-level": "2"}},
        }
        boundary = {"domains": {"include": ["127.0.0.1", "127.0.0.2"]}}
        workspace.define(f"{url}/", site_headers=entries, boundary=boundary)
        workspace.crawl(code=None, KEY="key-secret")
    sent = {one.path for one in site.requests if one.header("X-Api-Key") == "key-secret"}
    assert sent == {"/api/a", "/api/deep/b", "/api/out"}
    levels = {one.path: level for one in site.requests if (level := one.header("X-Level"))}
    assert levels == {
        "/api/a": "1",
        "/api/deep/b": "2",
        "/api/out": "1",
    }
    assert {"/api/x", "/api/y"} <= set(other.paths())
    assert set(heads(other, "X-Api-Key").values()) == {None}


def test_a_value_that_no_header_can_hold_ends_the_crawl(site: Site, url: str, workspace: Workspace) -> None:
    entries = {"api": {"url": f"{url}/", "headers": {"X-Key": "${KEY}"}}}
    workspace.define(f"{url}/", site_headers=entries)
    ended = workspace.command("crawl", KEY="bad-secret\nX-Evil: 1")
    assert ended.code == 2
    assert "site_headers.api.headers.X-Key: " in ended.err
    assert "bad-secret" not in ended.err
    assert site.requests == []


# ---- cookies


def set_cookies(site: Site) -> None:
    """Have the start page set a cookie, and a page that is served only to who has it."""

    def door(request: Request) -> Reply:
        if "door=open" in (request.header("Cookie") or ""):
            return Reply(200, (("Content-Type", "text/html"),), b"<title>In</title><p>needle</p>")
        return Reply(403)

    site.page("/", title="Home", links=["/in"], headers={"Set-Cookie": "door=open"})
    site.dynamic("/in", door)


@pytest.mark.parametrize(
    ("enabled", "status"), [(True, 200), (False, 403)], ids=["fast_56-on", "fast_56-off"]
)
def test_cookies_on_and_off(site: Site, url: str, workspace: Workspace, enabled: bool, status: int) -> None:
    set_cookies(site)
    workspace.define(f"{url}/", cookies={"enabled": enabled})
    workspace.crawl(code=None)
    assert workspace.urls()["/in"]["status_code"] == status


@pytest.mark.parametrize("clusters", [{"all": ["127.0.0.1", "localhost"]}, {}], ids=["together", "apart"])
def test_ultra_search_12_3_cookies_stay_in_their_cluster_and_with_their_host(
    site: Site, url: str, workspace: Workspace, clusters: dict[str, list[str]]
) -> None:
    port = url.rpartition(":")[2]
    site.page("/", title="Home", links=[f"http://localhost:{port}/x", "/y"], headers={"Set-Cookie": "a=1"})
    site.page("/x", title="X")
    site.page("/y", title="Y")
    workspace.define(
        f"{url}/",
        cookies={"enabled": True},
        sites={"clusters": clusters},
        boundary={"domains": {"include": ["127.0.0.1", "localhost"]}},
    )
    workspace.crawl()
    assert (heads(site, "Cookie")["/y"], heads(site, "Cookie")["/x"]) == ("a=1", None)


def test_cookies_end_with_the_run(site: Site, url: str, workspace: Workspace) -> None:
    set_cookies(site)
    workspace.define(f"{url}/", cookies={"enabled": True})
    workspace.crawl()
    site.reset()
    workspace.crawl()
    first = next(request for request in site.requests if request.path == "/")
    assert first.header("Cookie") is None


# ---- the version of HTTP, compression


@pytest.mark.parametrize(
    ("http", "offered"),
    [
        pytest.param({}, True, id="fast_22-on"),
        pytest.param({"compression": False}, False, id="fast_22-off"),
        pytest.param({"version": "1.0"}, False, id="fast_22-not-with-1.0"),
    ],
)
def test_compression_is_offered_or_not(
    site: Site, url: str, workspace: Workspace, http: dict[str, Any], offered: bool
) -> None:
    site.page("/", title="Home", text="needle")
    workspace.define(f"{url}/", http=http)
    workspace.crawl()
    assert ["gzip" in (value or "") for value in heads(site, "Accept-Encoding").values()] == [offered] * 3


@pytest.mark.servers
@pytest.mark.parametrize(
    ("version", "tls", "spoken"),
    [
        pytest.param("1.0", False, "HTTP/1.0", id="fast_21-no"),
        pytest.param("1.1", False, "HTTP/1.1", id="fast_21-yes"),
        pytest.param("2", True, "HTTP/2.0", id="http2"),
    ],
)
def test_the_version_of_http(
    tmp_path: Path, workspace: Workspace, version: str, tls: bool, spoken: str
) -> None:
    authority = Authority(tmp_path)
    with secured(tmp_path, authority, "return 200 $server_protocol;", listen="http2" * tls) as (
        plain,
        secure,
    ):
        workspace.define(
            f"{secure if tls else plain.url}/page",
            http={"version": version},
            types=["text/plain"],
        )
        workspace.crawl(SSL_CERT_FILE=str(authority.file))
        assert workspace.search(spoken.replace("/", " ").replace(".", " ")) == ["/page"]


# ---- client certificates


ASKS = 'ssl_verify_client optional; ssl_client_certificate "{ca}";'
SAYS = 'if ($ssl_client_s_dn = "") { return 403; } return 200 "seen $ssl_client_s_dn";'


@pytest.mark.servers
@pytest.mark.parametrize("password", ["", "key secret"])
def test_fast_27_28_a_client_certificate_against_nginx(
    tmp_path: Path, workspace: Workspace, password: str
) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("crawler", password)
    with secured(tmp_path, authority, SAYS, server=ASKS.format(ca=authority.file)) as (_, address):
        entry = {"url": f"{address}/", "certificate": str(certificate), "key": str(key)}
        if password:
            entry["password"] = "${KEY_PASSWORD}"
        workspace.define(f"{address}/page", types=["text/plain"], client_certificates={"c": entry})
        workspace.crawl(SSL_CERT_FILE=str(authority.file), KEY_PASSWORD=password)
        assert workspace.search("crawler") == ["/page"]


@pytest.mark.servers
def test_p4_another_site_does_not_see_the_certificate(tmp_path: Path, workspace: Workspace) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("crawler")
    with secured(tmp_path, authority, SAYS, server=ASKS.format(ca=authority.file)) as (_, address):
        elsewhere = address.replace("127.0.0.1", "localhost")
        entry = {"url": f"{elsewhere}/", "certificate": str(certificate), "key": str(key)}
        workspace.define(f"{address}/page", types=["text/plain"], client_certificates={"c": entry})
        workspace.crawl(code=None, SSL_CERT_FILE=str(authority.file))
        assert workspace.urls()["/page"]["status_code"] == 403


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"certificate": "none.pem"}, "is not there", id="fast_27-no-file"),
        pytest.param({"key": "other.key"}, "cannot be used", id="fast_27-another-key"),
    ],
)
def test_files_that_do_not_fit_end_the_crawl(
    tmp_path: Path, workspace: Workspace, change: dict[str, str], words: str
) -> None:
    authority = Authority(workspace.directory)
    for name in ("crawler", "other"):
        authority.issue(name)
    entry = {"certificate": "crawler.pem", "key": "crawler.key", **change}
    workspace.define("https://127.0.0.1/", client_certificates={"c": entry})
    ended = workspace.command("crawl")
    assert ended.code == 2
    assert "client_certificates.c: " in ended.err
    assert words in ended.err


def test_lint_wants_a_whole_https_site(workspace: Workspace) -> None:
    for url in ("http://127.0.0.1/", "https://127.0.0.1/staff/"):
        workspace.define(f"{url}", client_certificates={"c": {"url": url, "certificate": "c.pem"}})
        ended = workspace.command("lint")
        assert ended.code == 2
        assert sentence("logins.certificate_of_whole_site") in ended.out + ended.err
