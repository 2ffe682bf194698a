"""A main host that cannot be reached: its copies stand in for it, in real crawls."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from support.pace import kept
from support.project import Workspace
from support.site import Site

MAIN, COPY, LAST = "127.0.0.11", "127.0.0.12", "127.0.0.13"


@pytest.fixture
def port() -> Iterator[int]:
    """A port that is free on the hosts of these tests."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield int(one.getsockname()[1])


def define(workspace: Workspace, port: int, *, robots: bool = False, **politeness: object) -> None:
    workspace.define(
        f"http://{MAIN}:{port}/",
        robots={"obey": robots},
        sites={"aliases": {COPY: MAIN, LAST: MAIN}},
        politeness={"delay": 0, "concurrency": 1, "backoff": {"limit": 1, "longest": 1}, **politeness},
        limits={"retries": 3, "retry_delay": 0.01},
    )


def tree(site: Site) -> None:
    site.page("/", title="Home", text="needle", links=[f"/{number}" for number in range(5)])
    for number in range(5):
        site.page(f"/{number}", title=str(number), text="needle")


@pytest.mark.parametrize("host", [COPY, LAST])
@pytest.mark.parametrize("robots", [False, True], ids=["by errors", "by robots.txt"])
def test_fast_10_the_next_copy_stands_in_for_a_host_that_is_given_up(
    site: Site, workspace: Workspace, port: int, host: str, robots: bool
) -> None:
    tree(site)
    site.robots("User-agent: *\nDisallow: /4\n")
    define(workspace, port, robots=robots)
    with site.serve(host, port):
        run = workspace.crawl().run
    assert run["outcomes"] == ({"NEW": 5, "ROBOTS": 1} if robots else {"NEW": 6})
    assert run["given_up"] == {}
    assert {request.header("Host") for request in site.requests} == {f"{host}:{port}"}
    urls = [row["access_url"] for row in workspace.command("urls", "--json").lines]
    assert {urlsplit(url).hostname for url in urls} == {MAIN}, "records are those of the main host"
    status = workspace.command("status", f"{MAIN}:{port}", "--json").json["sites"][0]
    assert (status["stand_in"], status["given_up"]) == (f"{host}:{port}", False)
    assert f"mirror    {host}:{port}" in workspace.command("status", f"{MAIN}:{port}").out


def test_fast_10_without_a_copy_that_answers_the_site_is_given_up(
    site: Site, workspace: Workspace, port: int
) -> None:
    tree(site)
    define(workspace, port)
    run = workspace.crawl(code=None).run
    assert list(run["given_up"]) == [f"{MAIN}:{port}"]
    with site.serve(MAIN, port):
        run = workspace.crawl().run
    assert (run["outcomes"], run["given_up"]) == ({"NEW": 6}, {})
    hosts = {request.header("Host") for request in site.requests}
    assert hosts == {f"{MAIN}:{port}"}, "the next run begins with the main host"


def test_fast_10_a_resumed_run_goes_on_with_the_copy(site: Site, workspace: Workspace, port: int) -> None:
    tree(site)
    define(workspace, port)
    definition = workspace.directory / "ultracrawl.yaml"
    whole = definition.read_text()
    definition.write_text(whole.replace("retries:", "pages: 2\n      retries:"))
    with site.serve(COPY, port):
        assert workspace.crawl().run["fetched"] == 2
        definition.write_text(whole)
        with site.serve(MAIN, port):
            run = workspace.crawl().run
    assert run["resumed"] is True
    assert {request.header("Host") for request in site.requests} == {f"{COPY}:{port}"}


def test_fast_10_12_the_copy_keeps_the_delay_of_its_group(
    site: Site, workspace: Workspace, port: int
) -> None:
    tree(site)
    define(workspace, port, robots=True, delay=0.3, concurrency=4)
    with site.serve(COPY, port):
        assert workspace.crawl().run["outcomes"] == {"NEW": 6}
    assert kept([request.time for request in site.requests], 0.3)
