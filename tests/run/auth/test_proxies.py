"""Proxies in real crawls, by both download handlers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.certificates import Authority
from support.free_port import free_port, serving
from support.project import ANY_PORT, Workspace
from support.proxy import Proxy
from support.requirement import require
from support.site import Site
from support.tls_site import secured

pytestmark = pytest.mark.processes

SECRET = "proxy-secret"
NAME = "pages.test"
"""A host that only the proxies of the tests can resolve."""


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def pages(site: Site, count: int = 6) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(count)])
    for number in range(count):
        site.page(f"/{number}", title=f"Page {number}", text="needle")


def define(workspace: Workspace, *urls: str, **options: Any) -> None:
    """Define a source on `pages.test` whose proxies are those; no private network is allowed to it."""
    servers = {f"p{number}": {"url": url} for number, url in enumerate(urls)}
    proxy = {"servers": servers, **options.pop("proxy", {})}
    source = {
        "start_urls": [f"http://{NAME}/"],
        "politeness": {"delay": 0, "concurrency": 8},
        "limits": {"retries": 1, "retry_delay": 0.05},
        "proxy": proxy,
        **options,
    }
    workspace.write({"sources": {"site": source}})


def test_fast_25_all_requests_go_through_the_proxies_in_turn(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages(site)
    with Proxy({NAME: port_of(url)}) as first, Proxy({NAME: port_of(url)}) as second:
        define(workspace, first.url, second.url)
        assert workspace.crawl().run["outcomes"] == {"NEW": 7}
        assert abs(len(first.heads) - len(second.heads)) <= 1
        assert "/robots.txt HTTP/1.1" in first.text + second.text


def test_p4_ultra_search_108_credentials_of_a_proxy_stay_there_and_bypass_hosts_are_reached_directly(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages(site, 1)
    direct = Site()
    direct.page("/", title="Direct", text="needle")
    with direct.serve() as address, Proxy({NAME: port_of(url)}, "crawler", SECRET) as proxy:
        site.page("/", title="Home", links=["/0", f"{address}/"])
        server = {"url": proxy.url, "user": "crawler", "password": "${PROXY_PASSWORD}"}
        define(
            workspace,
            proxy={"servers": {"main": server}, "bypass": ["127.0.0.1"]},
            boundary={
                "networks": ["127.0.0.0/8"],
                "ports": ANY_PORT,
                "domains": {"include": [NAME, "127.0.0.1"]},
            },
        )
        run = workspace.crawl(PROXY_PASSWORD=SECRET).run
        assert run["outcomes"] == {"NEW": 3}
        assert all("proxy-authorization" in head.lower() for head in proxy.heads)
        assert "127.0.0.1" not in "".join(head.split("\r\n")[0] for head in proxy.heads)
    sent = [request for one in (site, direct) for request in one.requests]
    assert not [request for request in sent if request.header("Proxy-Authorization")]


@pytest.mark.parametrize("answer", ["dead", "wrong-password"])
def test_a_failing_proxy_is_left_alone_and_the_next_takes_over(
    site: Site, url: str, workspace: Workspace, answer: str
) -> None:
    pages(site)
    dead = f"http://127.0.0.1:{free_port()}"
    with Proxy({NAME: port_of(url)}) as good, Proxy({}, "somebody", "else") as closed:
        define(workspace, dead if answer == "dead" else closed.url, good.url)
        assert workspace.crawl().run["outcomes"] == {"NEW": 7}
        (log,) = workspace.directory.glob("var/log/*.run-*.log")
        assert log.read_text().count("The proxy p0 failed") == 1
        assert len(closed.heads) <= 2


def test_ultra_search_12_4_a_proxy_that_wants_a_password_is_407(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages(site)
    with Proxy({NAME: port_of(url)}, "somebody", "else") as proxy:
        define(workspace, proxy.url, robots={"obey": False})
        workspace.crawl(code=None)
        assert workspace.urls()["/"]["status_code"] == 407
        define(workspace, proxy.url, start_urls=[f"https://{NAME}/"], robots={"obey": False})
        workspace.crawl(code=None)
        codes = {row["access_url"]: row["status_code"] for row in workspace.command("urls", "--json").lines}
        assert codes[f"https://{NAME}/"] == 407
    assert site.requests == []


def test_without_a_working_proxy_nothing_goes_out_directly(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages(site)
    dead = f"http://127.0.0.1:{free_port()}"
    define(workspace, dead, start_urls=[f"{url}/"], boundary={"networks": ["127.0.0.0/8"]})
    workspace.crawl(code=None)
    assert site.requests == []


def test_fast_26_no_more_than_so_many_requests_at_once(site: Site, url: str, workspace: Workspace) -> None:
    pages(site, 8)
    with Proxy({NAME: port_of(url)}, together=2) as proxy:
        define(
            workspace,
            start_urls=[f"http://{NAME}/{number}" for number in range(8)],
            proxy={"servers": {"p": {"url": proxy.url, "connections": 2}}},
            robots={"obey": False},
            sitemaps={"use": False},
        )
        assert workspace.crawl().run["outcomes"] == {"NEW": 8}
        assert proxy.most == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "[::1]"])
def test_p1_a_proxy_is_not_asked_for_addresses_that_the_source_may_not_reach(
    site: Site, url: str, workspace: Workspace, host: str
) -> None:
    pages(site, 1)
    site.page("/", title="Home", links=[f"http://{host}:{port_of(url)}/0"])
    with Proxy({NAME: port_of(url)}) as proxy:
        define(
            workspace,
            proxy.url,
            boundary={"ports": ANY_PORT, "domains": {"include": [NAME, host]}},
            robots={"obey": False},
        )
        run = workspace.crawl(code=None).run
        assert run["outcomes"] == {"NEW": 1, "REJECTED": 1}
        assert [head.split("\r\n")[0] for head in proxy.heads if NAME not in head] == []


def test_p1_the_address_of_a_proxy_is_open_for_the_proxy_only(
    site: Site, url: str, workspace: Workspace
) -> None:
    with Proxy({NAME: port_of(url)}) as proxy:
        site.page("/", title="Home", links=[f"{proxy.url}/admin"])
        boundary = {"ports": ANY_PORT, "domains": {"include": [NAME, "127.0.0.1"]}}
        robots = {"obey": False}
        define(workspace, proxy.url, boundary=boundary, proxy={"bypass": ["127.0.0.1"]}, robots=robots)
        workspace.crawl(code=None)
        assert workspace.outcomes() == {"/": "NEW", "/admin": "REJECTED"}
        assert "GET /admin" not in proxy.text


def test_proxies_of_the_environment_are_not_taken(site: Site, url: str, workspace: Workspace) -> None:
    pages(site)
    with Proxy({}) as proxy:
        workspace.define(f"{url}/")
        assert workspace.crawl(http_proxy=proxy.url, HTTP_PROXY=proxy.url).run["outcomes"] == {"NEW": 7}
        assert proxy.heads == []


@pytest.mark.servers
def test_p4_https_goes_through_a_tunnel_that_holds_nothing_of_the_proxy(
    tmp_path: Path, workspace: Workspace
) -> None:
    authority = Authority(tmp_path)
    body = 'return 200 "needle [$http_proxy_authorization]";'
    with (
        secured(tmp_path, authority, body) as (_, address),
        Proxy({}, "crawler", SECRET) as proxy,
    ):
        server = {"url": proxy.url, "user": "crawler", "password": "${PROXY_PASSWORD}"}
        workspace.define(f"{address}/page", types=["text/plain"], proxy={"servers": {"main": server}})
        run = workspace.crawl(PROXY_PASSWORD=SECRET, SSL_CERT_FILE=str(authority.file)).run
        assert run["outcomes"] == {"NEW": 1}
        assert {head.split(" ")[0] for head in proxy.heads} == {"CONNECT"}
        assert all("user-agent: ultracrawl" not in head.lower() for head in proxy.heads)
    (document,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert "[]" in document["snippet"]


@contextmanager
def tinyproxy(folder: Path) -> Iterator[str]:
    program = shutil.which("tinyproxy") or shutil.which("tinyproxy", path="/usr/sbin:/usr/bin")
    require(program, "tinyproxy", "tinyproxy-bin")
    assert program is not None

    def command(port: int) -> list[str]:
        configuration = folder / "tinyproxy.conf"
        configuration.write_text(
            f"Port {port}\nListen 127.0.0.1\nBasicAuth crawler {SECRET}\nMaxClients 20\n"
        )
        return [program, "-d", "-c", str(configuration)]

    with serving(command, folder / "tinyproxy.log") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.servers
def test_a_crawl_through_tinyproxy(site: Site, url: str, workspace: Workspace) -> None:
    pages(site)
    with tinyproxy(workspace.directory) as address:
        server = {"url": address, "user": "crawler", "password": "${PROXY_PASSWORD}"}
        workspace.define(f"{url}/", proxy={"servers": {"main": server}})
        assert workspace.crawl(PROXY_PASSWORD=SECRET).run["outcomes"] == {"NEW": 7}
    assert all("tinyproxy" in (request.header("Via") or "") for request in site.requests)
