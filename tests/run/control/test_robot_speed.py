"""The speed properties of robot.conf, seen at the servers of several sites; and what no command changes."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from support.pace import kept
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

SLOW = 0.15
HOSTS = ("127.0.0.31", "127.0.0.32", "127.0.0.33")
PAGES = [f"/p{number}" for number in range(5)]


@pytest.fixture
def robot(workspace: Workspace) -> RobotFiles:
    return RobotFiles(workspace)


def crawled(site: Site, robot: RobotFiles, **properties: object) -> None:
    """Crawl three hosts with five slow pages each."""
    site.page("/", title="Home", text="words", links=PAGES)
    for path in PAGES:
        site.slow(path, SLOW, title=path, text=f"words {path}")
    with ExitStack() as stack:
        urls = [stack.enter_context(site.serve(host)) for host in HOSTS]
        for url in urls:
            robot.site(f"{url}/")
        robot.properties(**properties)
        robot.crawl()


def at_once(site: Site, host: str = "") -> int:
    """Return how many slow requests overlapped at most; all are as long."""
    times = [
        request.time
        for request in site.requests
        if request.path in PAGES and str(request.header("Host")).startswith(host)
    ]
    assert len(times) == len(PAGES) * (1 if host else len(HOSTS))
    return max(sum(start <= one < start + SLOW - 0.01 for one in times) for start in times)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_portal_robot_128_never_more_retrievals_than_max_concurrent(
    site: Site, robot: RobotFiles, most: int
) -> None:
    crawled(site, robot, max_concurrent=most, site_max_concurrent=20)
    assert at_once(site) == most


@pytest.mark.parametrize("most", [1, 3])
def test_portal_robot_129_never_more_to_a_site_than_site_max_concurrent(
    site: Site, robot: RobotFiles, most: int
) -> None:
    crawled(site, robot, site_max_concurrent=most, max_concurrent=20)
    assert [at_once(site, host) for host in HOSTS] == [most] * 3


def test_portal_robot_130_server_delay_holds_for_each_site(site: Site, robot: RobotFiles) -> None:
    # Waiting costs nothing here, and a busy machine holds a request up by less than this.
    crawled(site, robot, server_delay=20, max_concurrent=20)
    for host in HOSTS:
        times = [one.time for one in site.requests if str(one.header("Host")).startswith(host)]
        assert kept(times, 20)


def test_portal_robot_131_no_command_changes_csid(site: Site, url: str, robot: RobotFiles) -> None:
    site.page("/", title="Home", text="words")
    robot.site(f"{url}/")
    before = robot.text("robot.conf")
    host = url.split("/")[2].partition(":")[0]
    robot.crawl()
    for words in (
        ("robot", "list-sites"),
        ("robot", "disable-sites", host),
        ("robot", "enable-sites", host),
        ("status",),
    ):
        ended = robot.command(*words)
        assert ended.code == 0, (words, ended.err)
    assert robot.text("robot.conf") == before
