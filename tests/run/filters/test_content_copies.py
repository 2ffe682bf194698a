"""`filter-by-md5` over several runs: one URL has the description of a content, and only that, whatever is unchanged."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

COPIES = ["/dup1", "/dup2", "/dup3"]
RUNS = 5
TRAP = """<Filter name="e">
   Data fn=generate-md5
   Data fn=filter-by-md5
   Enumerate fn=enumerate-urls
</Filter>
<Filter name="g">
   Generate fn=extract-html-text
</Filter>
"""


@pytest.fixture
def robot(workspace: Workspace, site: Site, url: str) -> RobotFiles:
    made = RobotFiles(workspace)
    made.site(f"{url}/")
    site.page("/", title="Home", text="start", links=COPIES)
    for path in COPIES:
        copy(site, path)
    return made


def copy(site: Site, path: str, text: str = "needle", **validators: bool) -> None:
    site.page(path, title="Twin", text=text, **validators)


def described(robot: RobotFiles, word: str = "needle") -> list[str]:
    return sorted("/" + str(hit["url"]).split("/", 3)[3] for hit in robot.found(word))


def crawl(robot: RobotFiles) -> list[str]:
    robot.crawl()
    return described(robot)


@pytest.mark.parametrize("validators", [True, False], ids=["304", "no validators"])
def test_portal_robot_65_the_first_of_equal_pages_keeps_its_description_in_every_run(
    site: Site, robot: RobotFiles, validators: bool
) -> None:
    for path in COPIES:
        copy(site, path, etag=None if validators else False, modified=None if validators else False)
    assert [crawl(robot) for _ in range(RUNS)] == [["/dup1"]] * RUNS


def test_only_the_holder_is_unchanged_for_the_server(site: Site, robot: RobotFiles) -> None:
    copy(site, "/dup2", etag=False, modified=False)
    assert [crawl(robot) for _ in range(RUNS)] == [["/dup1"]] * RUNS


@pytest.mark.parametrize("validators", [True, False], ids=["304", "no validators"])
def test_the_next_copy_takes_the_place_of_one_that_goes_away(
    site: Site, robot: RobotFiles, validators: bool
) -> None:
    for path in COPIES:
        copy(site, path, etag=None if validators else False, modified=None if validators else False)
    assert crawl(robot) == ["/dup1"]
    site.gone("/dup1")
    assert crawl(robot) == ["/dup2"], "in the same run"
    assert crawl(robot) == ["/dup2"]
    copy(site, "/dup1")
    assert [crawl(robot) for _ in range(RUNS)] == [["/dup2"]] * RUNS, "the holder keeps its place"


def test_the_last_copies_go_one_after_the_other(site: Site, robot: RobotFiles) -> None:
    assert crawl(robot) == ["/dup1"]
    for gone, left in (("/dup1", ["/dup2"]), ("/dup2", ["/dup3"]), ("/dup3", [])):
        site.gone(gone)
        assert crawl(robot) == left
    assert crawl(robot) == []


def test_the_next_copy_takes_the_place_of_one_that_changes(site: Site, robot: RobotFiles) -> None:
    assert crawl(robot) == ["/dup1"]
    copy(site, "/dup1", "another needle")
    assert crawl(robot) == ["/dup1", "/dup2"]
    assert [crawl(robot) for _ in range(3)] == [["/dup1", "/dup2"]] * 3
    copy(site, "/dup1")
    assert [crawl(robot) for _ in range(3)] == [["/dup2"]] * 3, "it is a copy again"


def test_a_copy_that_changes_is_described(site: Site, robot: RobotFiles) -> None:
    assert crawl(robot) == ["/dup1"]
    copy(site, "/dup3", "a needle of its own")
    assert [crawl(robot) for _ in range(3)] == [["/dup1", "/dup3"]] * 3


def test_a_copy_that_must_not_be_indexed_holds_nothing(site: Site, robot: RobotFiles) -> None:
    site.page("/dup1", title="Twin", text="needle", headers={"X-Robots-Tag": "noindex"})
    assert [crawl(robot) for _ in range(3)] == [["/dup2"]] * 3


def test_a_holder_that_a_rule_excludes_gives_its_place_away(site: Site, url: str, robot: RobotFiles) -> None:
    assert crawl(robot) == ["/dup1"]
    rule = (
        '<FilterRule name="first" title="First" enable=on behavior=exclude>\n'
        '   Match source=path by=is string="/dup1"\n</FilterRule>\n'
    )
    host = url.split("/")[2].partition(":")[0]
    site_block = (
        f"<Site name={host} kind=server enable=on>\n   Start url={url}/\n   Use rule=first\n</Site>\n"
    )
    robot.write("filterrules.conf", rule + site_block)
    assert [crawl(robot) for _ in range(3)] == [["/dup2"]] * 3


def test_every_page_read_again_changes_no_holder(site: Site, robot: RobotFiles) -> None:
    assert crawl(robot) == ["/dup1"]
    robot.command("crawl", "--force")
    assert described(robot) == ["/dup1"]


def test_links_of_a_copy_are_not_followed_in_any_run(site: Site, robot: RobotFiles) -> None:
    """A trap: each copy links to one a folder deeper, and has a description; only the first one's link is followed."""
    robot.write("filter.conf", TRAP)
    robot.properties(enumeration_filter="e", generation_filter="g", depth=-1)
    site.page("/", title="Home", text="start", links=["/trap/"])
    for depth in range(1, RUNS + 3):
        site.page("/trap/" + "x/" * (depth - 1), title="Trap", text="needle", links=["x/"])
    assert [crawl(robot) for _ in range(RUNS)] == [["/trap/", "/trap/x/"]] * RUNS
