"""Filters of a source that are other ones than in the run before: what `plan` foresees, and what the run then does."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

FILTERS = """<Filter name="e">
{e}
Enumerate fn=enumerate-urls
</Filter>
<Filter name="g">
{g}
Generate fn=extract-html-meta
Generate fn=extract-html-text
</Filter>
"""
DENY = "MetaData fn=filter-by-prefix src=path deny=/p"
DENY_DATA = "Data fn=filter-by-exact src=author deny=Jordan"
PAGES = [f"/p{number}" for number in range(15)]


def filters(robot: RobotFiles, e: str = "", g: str = "") -> None:
    robot.write("filter.conf", FILTERS.format(e=e, g=g))


@pytest.fixture
def robot(site: Site, url: str, workspace: Workspace) -> RobotFiles:
    """A robot whose site of sixteen pages was crawled once."""
    site.page("/", title="Home", text="needle", links=PAGES)
    for path in PAGES:
        head = '<meta name="author" content="Jordan">' if path == "/p3" else ""
        site.page(path, title=path, text=f"needle {path}", head=head)
    files = RobotFiles(workspace)
    filters(files)
    files.properties(enumeration_filter="e", generation_filter="g")
    files.site(f"{url}/")
    assert files.crawl().run["outcomes"] == {"NEW": 16}
    site.reset()
    return files


def plan(robot: RobotFiles) -> dict[str, Any]:
    (only,) = robot.command("plan", "--json").json["sources"]
    assert isinstance(only, dict)
    return only


CHANGES: dict[str, tuple[dict[str, str], int, int, bool]] = {
    "nothing": ({}, 0, 0, False),
    "both deny the URL": ({"e": DENY, "g": DENY}, 15, 15, True),
    "no description any more": ({"g": DENY}, 15, 15, True),
    "its links are not followed": ({"e": DENY}, 0, 0, True),
    "after the fetch": ({"g": DENY_DATA}, 0, 1, True),
}


@pytest.mark.parametrize(("changed", "foreseen", "deleted", "rescan"), CHANGES.values(), ids=CHANGES)
def test_what_other_filters_leave_out_is_foreseen_and_leaves(
    site: Site, robot: RobotFiles, changed: dict[str, str], foreseen: int, deleted: int, rescan: bool
) -> None:
    """Unchanged pages too, and more at once than a server may take away."""
    filters(robot, **changed)
    planned = plan(robot)
    assert site.requests == [], "a plan asks for nothing"
    assert (planned["left_out"], planned["recipe_changed"]) == (foreseen, rescan)
    assert planned["left_out_by"] == ({"filter rules": 15} if foreseen else {})
    run = robot.crawl().run
    assert (run["deleted"], run["problems"]) == (deleted, [])
    assert len(robot.found("needle")) == 16 - deleted
    assert plan(robot)["left_out"] == 0


RULE = """<FilterRule name="mine" title="Mine" enable={enable} default=off behavior=exclude>
   Match source=path by=begins-with string="/p"
</FilterRule>
"""


def test_a_rule_that_is_switched_on_takes_documents_out(site: Site, url: str, workspace: Workspace) -> None:
    """Rules are asked about every URL anyway, so a change of theirs has no page made anew."""
    site.page("/", title="Home", text="needle", links=PAGES)
    for path in PAGES:
        site.page(path, title=path, text=f"needle {path}")
    robot = RobotFiles(workspace)
    blocks = robot.text("filterrules.conf")
    for enable in ("off", "on"):
        robot.write("filterrules.conf", blocks + RULE.format(enable=enable))
        robot.site(f"{url}/", rules="   Use rule=mine\n")
        planned = plan(robot)
        assert (planned["left_out"], planned["rescan"]) == (15 if enable == "on" else 0, False)
        run = robot.crawl().run
        assert run["problems"] == []
    assert (run["deleted"], run["outcomes"]) == (15, {"NOT_MODIFIED": 1, "REJECTED": 15})
    assert len(robot.found("needle")) == 1
