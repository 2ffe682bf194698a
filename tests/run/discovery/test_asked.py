"""What was asked for decides how a crawl ends: its exit code, and a line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.network import NetworkSite
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Reply, Site

NOWHERE = "http://127.0.0.1:1/"


@pytest.fixture
def elsewhere() -> Iterator[tuple[Site, str]]:
    """A second site; its URL names the host otherwise than the first does."""
    site = NetworkSite()
    site.page("/", title="Second", text="heron", links=["/a"])
    site.page("/a", title="Page", text="egret")
    with site.serve() as address:
        yield site, address.replace("127.0.0.1", "localhost")


def problems(ended: Any) -> list[str]:
    return [line for run in ended.json["runs"] for line in run["problems"]]


@pytest.mark.parametrize("status", [301, 302])
def test_the_host_that_a_url_of_the_command_line_redirects_to_is_crawled(
    site: Site, url: str, workspace: Workspace, elsewhere: tuple[Site, str], status: int
) -> None:
    site.redirect("/", f"{elsewhere[1]}/", status=status)
    ended = workspace.crawl("--url", f"{url}/", "--delay", "0")
    assert ended.run["outcomes"] == {"REDIRECTED": 1, "NEW": 2}
    again = workspace.crawl("--url", f"{url}/", "--delay", "0")
    assert again.run["outcomes"] == {"REDIRECTED": 1, "NOT_MODIFIED": 2}
    assert workspace.command("search", "egret", "--json").json["total"] == 1


def test_only_the_start_url_takes_its_hosts_along(
    site: Site, url: str, workspace: Workspace, elsewhere: tuple[Site, str]
) -> None:
    site.page("/", title="Home", links=["/b"])
    site.redirect("/b", f"{elsewhere[1]}/")
    ended = workspace.crawl("--url", f"{url}/", "--delay", "0")
    assert ended.run["outcomes"] == {"NEW": 1, "REJECTED": 1}


def test_the_guard_of_addresses_holds_for_it(site: Site, url: str, workspace: Workspace) -> None:
    other = NetworkSite()
    other.page("/", title="Private", text="secret")
    with other.serve("127.0.0.2") as private:
        site.redirect("/", f"{private}/")
        ended = workspace.command("crawl", "--url", f"{url}/", "--delay", "0", "--json")
    assert ended.code == 1
    assert other.paths() == []
    assert private in problems(ended)[0]


def test_a_start_url_of_a_definition_that_leaves_names_the_line_to_add(
    site: Site, url: str, workspace: Workspace, elsewhere: tuple[Site, str]
) -> None:
    site.redirect("/", f"{elsewhere[1]}/")
    workspace.define(f"{url}/")
    named = [80, 443, *(int(one.rpartition(":")[2]) for one in (url, elsewhere[1]))]
    (told,) = problems(workspace.command("crawl", "--json"))
    assert f"ports: {{localhost: {{include: {named}}}}}" in told
    ports = {"ports": {"localhost": {"include": named}}}
    workspace.define(f"{url}/", boundary=ports)
    ended = workspace.command("crawl", "--json")
    assert ended.code == 1
    assert problems(ended) == [sentence("boundary.seed_outside", seed=f"{url}/", target=f"{elsewhere[1]}/")]
    workspace.define(f"{url}/", boundary={"domains": {"include": ["localhost"]}, **ports})
    assert workspace.crawl().run["outcomes"] == {"REDIRECTED": 1, "NEW": 2}


def test_what_was_asked_for_decides(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron")
    assert workspace.crawl("--url", f"{url}/", "--delay", "0").run["outcomes"] == {"NEW": 1}
    failed = workspace.command("crawl", "--url", NOWHERE, "--url", f"{url}/", "--delay", "0", "--json")
    assert failed.code == 1
    assert [NOWHERE in line for line in problems(failed)] == [True]


def test_other_ports_are_other_sources(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron")
    port = url.rpartition(":")[2]
    assert workspace.crawl("--url", f"{url}/", "--delay", "0").run["source"] == f"127.0.0.1-{port}"
    failed = workspace.command("crawl", "--url", NOWHERE, "--delay", "0", "--json")
    assert (failed.code, failed.run["source"]) == (1, "127.0.0.1-1")
    assert site.count("/") == 1


def test_a_link_to_another_port_of_the_host_is_not_followed(
    site: Site, url: str, workspace: Workspace, elsewhere: tuple[Site, str]
) -> None:
    port = elsewhere[1].rpartition(":")[2]
    site.page("/", title="Home", links=["/a", f"http://127.0.0.1:{port}/"])
    site.page("/a", title="A", text="heron")
    assert workspace.crawl("--url", f"{url}/", "--delay", "0").run["outcomes"] == {"NEW": 2}
    assert elsewhere[0].paths() == []


def test_the_start_url_takes_the_port_along_that_it_redirects_to(
    site: Site, url: str, workspace: Workspace, elsewhere: tuple[Site, str]
) -> None:
    port = elsewhere[1].rpartition(":")[2]
    site.redirect("/", f"http://127.0.0.1:{port}/")
    ended = workspace.crawl("--url", f"{url}/", "--delay", "0")
    assert ended.run["outcomes"] == {"REDIRECTED": 1, "NEW": 2}


def test_a_source_that_had_another_name_keeps_it(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron")
    (workspace.directory / "var").mkdir()
    (workspace.directory / "var" / "adhoc.yaml").write_text(
        f"{{index: index, state: state, cache: cache, sources: {{127.0.0.1: {{start_urls: [{url}/]}}}}}}"
    )
    assert workspace.crawl("--url", f"{url}/", "--delay", "0").run["source"] == "127.0.0.1"


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_crawl_that_read_nothing_failed(site: Site, url: str, workspace: Workspace, status: int) -> None:
    site.respond("/", status=status)
    workspace.define(f"{url}/")
    ended = workspace.command("crawl", "--json")
    assert ended.code == 1
    assert len(problems(ended)) == 1
    assert f"{url}/: " in problems(ended)[0]


def test_what_robots_forbid_was_not_crawled(site: Site, url: str, workspace: Workspace) -> None:
    site.robots("User-agent: *\nDisallow: /\n")
    site.page("/", title="Home")
    workspace.define(f"{url}/")
    assert workspace.crawl(code=1).run["outcomes"] == {"ROBOTS": 1}


OWN = """
from ultracrawl.spiders import SourceSpider

class Fails(SourceSpider):
    def documents(self, response, page):
        raise ValueError("no such column")

class StartFails(SourceSpider):
    async def start(self):
        raise ValueError("no list of URLs")
        yield
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [("Fails", "own.Fails failed on every page"), ("StartFails", "no list of URLs")],
)
def test_a_class_that_fails_is_reported_in_a_line(
    site: Site, url: str, workspace: Workspace, name: str, told: str
) -> None:
    site.page("/", title="Home", links=["/a"])
    site.page("/a", title="Page")
    (workspace.directory / "own.py").write_text(OWN)
    workspace.define(f"{url}/", **{"class": f"own.{name}"})
    ended = workspace.command("crawl", PYTHONPATH=str(workspace.directory))
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert [told in line for line in ended.err.splitlines() if "Problem" in line] == [True]
    assert "Traceback" in workspace.command("crawl", "-v", PYTHONPATH=str(workspace.directory)).err


def test_a_page_that_is_excluded_is_no_failure(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", robots="noindex", links=["/a"])
    site.page("/a", text="words")
    workspace.define(f"{url}/")
    assert workspace.crawl().run["outcomes"] == {"NOT_INDEXED": 1, "NEW": 1}


def test_part_of_a_site_that_fails_is_no_failure_of_the_crawl(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/a"])
    site.dynamic("/a", lambda request: Reply(500, b""))
    workspace.define(f"{url}/")
    assert workspace.crawl().run["outcomes"] == {"NEW": 1, "HTTP_ERROR": 1}


def test_the_boundary_of_a_definition_stays_as_it_is(
    site: Site, url: str, workspace: Workspace, elsewhere: tuple[Site, str]
) -> None:
    site.page("/", title="Home", links=["/b"])
    site.redirect("/b", f"{elsewhere[1]}/", status=302)
    workspace.define(f"{url}/", boundary={**LOOPBACK, "ports": {"localhost": {"exclude": []}}})
    assert workspace.crawl().run["outcomes"] == {"NEW": 2, "REDIRECTED": 1}


def test_a_source_that_was_remembered_can_be_copied_alone(workspace: Workspace) -> None:
    for port in (1, 2):
        workspace.command("crawl", "--url", f"http://127.0.0.1:{port}/", "--delay", "0")
    written = (workspace.directory / "var" / "adhoc.yaml").read_text().splitlines()
    copy = ["sources:", *written[written.index("  127.0.0.1-2:") :]]
    (workspace.directory / "copy.yaml").write_text("\n".join(copy) + "\n")
    assert workspace.command("lint", "copy.yaml").code == 0
