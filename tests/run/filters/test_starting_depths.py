"""Starting points of one site with different depths: what each reaches, in every run (portal robot 115)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

LINKS = {
    "/a": ["/a1"],
    "/a1": ["/a2"],
    "/a2": ["/a3"],
    "/x": ["/b"],
    "/b": ["/c"],
    "/c": ["/d"],
    "/d": [],
    "/a3": [],
}


@pytest.fixture
def robot(workspace: Workspace, site: Site) -> RobotFiles:
    for path, links in LINKS.items():
        site.page(path, title=path, text=f"needle {path}", links=links)
    return RobotFiles(workspace)


def starts(robot: RobotFiles, url: str, *points: tuple[str, int]) -> None:
    lines = "".join(f"   Start url={url}{path} depth={depth}\n" for path, depth in points)
    host = url.split("/")[2].partition(":")[0]
    text = robot.text("filterrules.conf").partition("<Site")[0]
    robot.write("filterrules.conf", f"{text}<Site name={host} kind=server>\n{lines}</Site>\n")


def asked(site: Site, robot: RobotFiles) -> set[str]:
    site.reset()
    robot.crawl()
    return site.page_paths() - {"/robots.txt"}


def described(robot: RobotFiles) -> set[str]:
    return {str(hit["title"]) for hit in robot.found("needle")}


def within(*points: tuple[str, int]) -> set[str]:
    """Return what starting points reach: the model of the tests."""
    found: set[str] = set()
    for path, depth in points:
        ring: Iterable[str] = [path]
        for _ in range(depth + 1):
            found.update(ring)
            ring = [link for page in ring for link in LINKS[page]]
    return found


def test_portal_robot_115_each_starting_point_has_its_own_depth(
    site: Site, url: str, robot: RobotFiles
) -> None:
    points = ("/a", 0), ("/x", 2)
    starts(robot, url, *points)
    for _ in range(5):
        assert asked(site, robot) == {"/a", "/x", "/b", "/c"} == within(*points)
        assert described(robot) == within(*points)
    row = robot.urls()["/a1"]
    assert (row["outcome"], "starting point" in str(row["reason"])) == ("REJECTED", True)


def test_portal_robot_115_a_page_that_both_reach_is_followed_as_far_as_either_allows(
    site: Site, url: str, robot: RobotFiles
) -> None:
    site.page("/a", title="/a", text="needle /a", links=["/a1", "/b"])
    points = ("/a", 1), ("/x", 3)
    starts(robot, url, *points)
    for _ in range(3):
        assert asked(site, robot) == {"/a", "/a1", "/x", "/b", "/c", "/d"}
    fields = robot.command("robot", "export-rds", "--format", "json").lines
    depths = {"/" + row["url"].rsplit("/", 1)[1]: row["fields"]["depth"] for row in fields}
    assert depths == {"/a": ["0"], "/x": ["0"], "/a1": ["1"], "/b": ["1"], "/c": ["2"], "/d": ["3"]}


def test_changed_depths_hold_for_what_is_known(site: Site, url: str, robot: RobotFiles) -> None:
    starts(robot, url, ("/a", 0), ("/x", 2))
    asked(site, robot)
    for points in ((("/a", 2), ("/x", 0)), (("/a", 1), ("/x", 3)), (("/a", 0), ("/x", 2))):
        starts(robot, url, *points)
        for _ in range(2):
            assert asked(site, robot) == within(*points), points
            assert described(robot) == within(*points), points


def test_a_later_way_that_leads_further_is_taken_in_the_same_run(
    site: Site, url: str, robot: RobotFiles
) -> None:
    robot.properties(max_concurrent=1, site_max_concurrent=1)
    site.page("/a", title="/a", text="needle /a", links=["/c"])
    starts(robot, url, ("/a", 1), ("/x", 4))
    assert asked(site, robot) == {"/a", "/c", "/d", "/x", "/b"}
    site.page("/d", title="/d", text="needle /d", links=["/a2"])
    site.page("/b", title="/b", text="needle /b", links=["/c", "/a1"])
    assert asked(site, robot) == {"/a", "/c", "/d", "/x", "/b", "/a1", "/a2", "/a3"}
    assert asked(site, robot) == {"/a", "/c", "/d", "/x", "/b", "/a1", "/a2", "/a3"}


def test_without_a_limit_for_one_of_them(site: Site, url: str, robot: RobotFiles) -> None:
    starts(robot, url, ("/a", 0), ("/x", -1))
    for _ in range(2):
        assert asked(site, robot) == {"/a", "/x", "/b", "/c", "/d"}
