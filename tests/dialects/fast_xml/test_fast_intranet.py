"""Collections of an intranet: which hosts may have private addresses, whatever their names resolve to later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from support.fast import attrib, fast_options, fast_xml
from support.fast_printed import printed
from support.network import NetworkSite, resolved
from support.project import Workspace
from support.resource import Reply
from support.server import Request

from ultracrawl.sources import compile_source
from ultracrawl.sources.dialects import read_definitions

INSIDE, OTHER, LOOPBACK, METADATA = "10.1.2.3", "10.9.9.9", "127.0.0.1", "169.254.169.254"
START = "http://portal.example/"


def options(**more: Any) -> dict[str, Any]:
    return {"start_uris": (START,), "delay": 0.0, "use_sitemaps": False, **more}


def login(**fields: str) -> str:
    own = {"site": "session.example", "form": "/enter", **fields}
    inside = "".join(attrib(name, f"Login/{name}", value) for name, value in own.items())
    sites = attrib("sites", "Login/sites", ("members.example",))
    parameters = (
        '<section name="parameters">' + attrib("user", "Login/parameters/user", "robot") + "</section>"
    )
    return f'<Login name="club">{inside}{sites}{parameters}</Login>'


NAMED: dict[str, tuple[dict[str, Any], str, str]] = {
    "start": ({}, "", "portal.example"),
    "exact": ({"include_domains/exact": ("wiki",)}, "", "wiki"),
    "suffix": ({"include_domains/suffix": (".corp.example",)}, "", "a.b.corp.example"),
    "ending": ({"include_domains/suffix": ("corp.example",)}, "", "corp.example"),
    "own ending": ({"include_domains/suffix": (".lan",)}, "", "wiki.lan"),
    "uri": ({"include_uris/exact": ("http://docs.example/a",)}, "", "docs.example"),
    "uris": ({"include_uris/prefix": ("http://docs.example:8080/a",)}, "", "docs.example"),
    "login": ({}, login(), "session.example"),
    "form": ({}, login(html_form="http://form.example/x"), "form.example"),
    "preload": ({}, login(preload="http://hello.example/x"), "hello.example"),
}
NOT_NAMED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no rule": ({}, "", "portal2.example"),
    "prefix": ({"include_domains/prefix": ("wiki",)}, "", "wiki.example"),
    "expression": ({"include_domains/regexp": (r"wiki\.example",)}, "", "wiki.example"),
    "public suffix": ({"include_domains/suffix": (".com",)}, "", "example.com"),
    "private suffix": ({"include_domains/suffix": (".github.io",)}, "", "x.github.io"),
    "part of a label": ({"include_domains/suffix": ("corp.example",)}, "", "evilcorp.example"),
    "excluded": ({"exclude_domains/exact": ("wiki",)}, "", "wiki"),
    "part of a host": ({"include_uris/prefix": ("http://docs.example",)}, "", "docs.example"),
    "members": ({}, login(), "members.example"),
}


def refusals(folder: Path, extra: dict[str, Any], inside: str, host: str) -> dict[str, str | None]:
    """Return what the guard says about each address of a host."""
    (folder / "collection.xml").write_text(fast_xml(options(**extra), inside=inside))
    project = read_definitions(folder / "collection.xml").project
    assert project is not None
    policy = compile_source(project.sources["handbook"], project).addresses
    return {address: policy.refuses(address, host) for address in (INSIDE, "fd12::1", LOOPBACK, METADATA)}


def test_hosts_that_the_file_names_may_have_private_addresses(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for case, row in NAMED.items():
        with subtests.test(case):
            found = refusals(tmp_path, *row)
            assert found == {
                INSIDE: None,
                "fd12::1": None,
                LOOPBACK: "address loopback",
                METADATA: "address cloud metadata",
            }


def test_other_hosts_may_not(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for case in NOT_NAMED:
        with subtests.test(case):
            assert refusals(tmp_path, *NOT_NAMED[case])[INSIDE] == "address private"


def test_hosts_of_a_rule_file_are_named(tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text("exact wiki\nregexp .*\n")
    rules = {"include_domains/file": ("hosts.txt",)}
    assert refusals(tmp_path, rules, "", "wiki")[INSIDE] is None
    assert refusals(tmp_path, rules, "", "other")[INSIDE] == "address private"


@pytest.fixture
def intranet() -> Iterator[tuple[NetworkSite, NetworkSite, dict[str, str]]]:
    """A portal in the intranet, another server, and the addresses of their names."""
    portal, other = NetworkSite(), NetworkSite()
    names = {"portal.example": INSIDE, "wiki.corp.example": INSIDE, "evil.example": OTHER}
    links = ["http://wiki.corp.example/a", "http://wiki.corp.example/b", "http://evil.example/x"]
    portal.page("/", title="Home", links=links)
    for path in ("/a", "/b"):
        portal.page(path, title=path)
        other.page(path, title=path)
    other.page("/x", title="Secret")
    with ExitStack() as stack:
        stack.enter_context(resolved(names))
        stack.enter_context(portal.serve(INSIDE, 80))
        for address in (OTHER, LOOPBACK, METADATA):
            stack.enter_context(other.serve(address, 80))
        yield portal, other, names


def crawl(workspace: Workspace, **extra: Any) -> dict[str, dict[str, Any]]:
    rules = {"include_domains/suffix": (".corp.example",), "include_domains/regexp": (".*",)}
    whole = options(**rules, **extra)
    (workspace.directory / "c.xml").write_text(fast_xml(whole))
    workspace.crawl("-c", "c.xml", code=None)
    return {line["url"]: line for line in workspace.command("urls", "-c", "c.xml", "--json").lines}


def test_links_lead_to_named_hosts_of_the_intranet_only(
    workspace: Workspace, intranet: tuple[NetworkSite, NetworkSite, dict[str, str]]
) -> None:
    portal, other, _ = intranet
    found = crawl(workspace)
    assert {path for path in portal.paths() if path != "/robots.txt"} == {"/", "/a", "/b"}
    assert other.paths() == []
    refused = found["http://evil.example/x"]
    assert refused["cause"] == "address"
    assert "evil.example has the address 10.9.9.9" in refused["reason"]


@pytest.mark.parametrize("later", [LOOPBACK, METADATA, OTHER])
def test_a_name_that_changes_its_address_is_judged_by_each_connection(
    workspace: Workspace, intranet: tuple[NetworkSite, NetworkSite, dict[str, str]], later: str
) -> None:
    portal, other, names = intranet

    def move(_: Request) -> Reply:
        names["wiki.corp.example"] = later
        return Reply(200, b"<title>a</title>", {"Content-Type": "text/html"})

    portal.dynamic("/a", move)
    found = crawl(workspace, max_pending=1)
    if later == OTHER:  # another server of the intranet, which the name may have
        assert "/b" in other.paths()
        return
    assert other.paths() == []
    assert found["http://wiki.corp.example/b"]["cause"] == "address"


def test_networks_beside_the_file_open_what_names_do_not(
    workspace: Workspace, intranet: tuple[NetworkSite, NetworkSite, dict[str, str]]
) -> None:
    _, other, names = intranet
    names["wiki.corp.example"] = LOOPBACK
    crawl(workspace)
    assert other.paths() == []
    (workspace.directory / "networks.txt").write_text("127.0.0.1/32\n")
    crawl(workspace)
    assert {"/a", "/b"} <= set(other.paths())


def test_lint_lists_what_became_reachable(tmp_path: Path, workspace: Workspace) -> None:
    part = (
        f'<SubDomain name="part">{fast_options({"include_domains/exact": ("p.corp.example",)})}</SubDomain>'
    )
    whole = options(**{"include_domains/suffix": (".corp.example", ".com")})
    (workspace.directory / "c.xml").write_text(fast_xml(whole, inside=part + login()))
    lines = workspace.command("lint", "c.xml").err.splitlines()
    assert any(
        line.startswith("handbook: portal.example, session.example, *.corp.example ") for line in lines
    )
    assert any(line.startswith("handbook.part: p.corp.example, ") for line in lines)
    assert not any("*.com" in line for line in lines)


class Club(NetworkSite):
    """The servers of the sample: a page that sets a cookie, a form with a hidden token, and pages for members."""

    def __init__(self) -> None:
        super().__init__()
        self.dynamic("/hello", lambda _: html("hello", ("Set-Cookie", "hello=1; Path=/; Secure")))
        self.dynamic("/session", self.form)
        self.dynamic("/session/new", self.enter)
        self.dynamic("/", self.inside)
        self.sent: list[dict[str, list[str]]] = []

    def form(self, request: Request) -> Reply:
        assert "hello=1" in (request.header("Cookie") or "")
        hidden = "<input type=hidden name=token value=t1>"
        return html(f"<form method=post>{hidden}<input name=account><input type=password name=secret></form>")

    def enter(self, request: Request) -> Reply:
        self.sent.append(parse_qs(request.body.decode()))
        return html("in", ("Set-Cookie", "session=s1; Domain=example.com; Path=/; Secure"))

    def inside(self, request: Request) -> Reply:
        known = "session=s1" in (request.header("Cookie") or "")
        return html(f"secretword of {request.header('Host')}" if known else "closed")


def html(body: str, *headers: tuple[str, str]) -> Reply:
    return Reply(200, (("Content-Type", "text/html"), *headers), body.encode())


@pytest.mark.parametrize("address", [INSIDE, LOOPBACK])
def test_fast_line_1277_the_sample_login_works_in_an_intranet(workspace: Workspace, address: str) -> None:
    starts = ("https://members.example.com/", "https://forum.example.com/")
    (workspace.directory / "c.xml").write_text(fast_xml(options(start_uris=starts), inside=printed(1277)))
    names = {"login.example.com": address, "members.example.com": INSIDE, "forum.example.com": INSIDE}
    club = Club()
    with resolved(names), club.serve(INSIDE, 443), NetworkSite().serve(LOOPBACK, 443):
        ended = workspace.crawl("-c", "c.xml", code=None)
    found = workspace.command("search", "--as-typed", "-c", "c.xml", "secretword", "--json").json
    if address == INSIDE:
        assert club.sent == [{"account": ["robot"], "secret": ["s3cret"], "token": ["t1"]}]
        assert {hit["url"] for hit in found["hits"]} == set(starts)
        return
    assert not found["hits"]
    (problem,) = [one for one in ended.run["problems"] if "members_area" in one]
    assert "login.example.com has the address 127.0.0.1" in problem
    assert "Error" not in problem
