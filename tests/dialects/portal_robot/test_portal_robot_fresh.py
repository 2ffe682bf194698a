"""A robot over a site that changes, and one that does not: every run ends with what a fresh robot describes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import files
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site
from support.until import until

RUNS = 5
LEFT_OUT = {"rd-expires", "rd-last-modified"}
"""Fields of the time at which a description was made."""


def first(site: Site) -> None:
    links = [
        "/a",
        "/twin1",
        "/twin2",
        "/paper.pdf",
        "/broken.pdf",
        "/picture.png",
        "/deep/1",
        "/no",
        "/x.zip",
    ]
    site.page("/", title="Home", text="needle at home", links=links)
    site.page("/a", title="A", text="needle a", links=["/b"], head='<meta name="author" content="Jo Lee">')
    site.page("/b", title="B", text="needle b")
    for path in ("/twin1", "/twin2"):
        site.page(path, title="Twin", text="needle twice")
    site.file("/paper.pdf", files.pdf(["needle in a paper"], title="Paper"), "application/pdf")
    site.file("/broken.pdf", b"%PDF-1.4\nbroken", "application/pdf")
    site.file("/picture.png", b"\x89PNG\r\n\x1a\nbroken", "image/png")
    site.page("/deep/1", title="Deep 1", text="needle deep 1", links=["/deep/2"])
    site.page("/deep/2", title="Deep 2", text="needle deep 2", links=["/deep/3"])
    site.page("/deep/3", title="Deep 3", text="needle deep 3")
    site.page("/no", title="No", text="needle no", head='<meta name="robots" content="noindex">')
    site.page("/x.zip", title="Zip", text="needle in an archive")


def twin_leaves(site: Site) -> None:
    site.gone("/twin1")


def page_changes(site: Site) -> None:
    site.page("/a", title="A", text="needle a has changed", links=["/b", "/new"])
    site.page("/new", title="New", text="needle new")


def document_changes(site: Site) -> None:
    site.file("/paper.pdf", files.pdf(["needle in another paper"], title="Paper 2"), "application/pdf")
    site.file("/broken.pdf", files.pdf(["needle mended"], title="Mended"), "application/pdf")


def wish_changes(site: Site) -> None:
    site.page("/no", title="No", text="needle no")
    site.page("/b", title="B", text="needle b", head='<meta name="robots" content="noindex">')


CHANGES: list[Callable[[Site], None]] = [twin_leaves, page_changes, document_changes, wish_changes]


def write(folder: Path, url: str, **properties: object) -> RobotFiles:
    folder.mkdir(parents=True, exist_ok=True)
    robot = RobotFiles(Workspace(folder))
    rules = "   Use rule=archive-files\n   Use rule=image-files\n"
    robot.site(f"{url}/", depth="2", rules=rules)
    robot.write("classification.conf", 'Classify source=path by=begins-with string=/deep category="Deep"\n')
    robot.properties(**properties)
    return robot


def described(robot: RobotFiles) -> dict[str, dict[str, list[str]]]:
    rows = robot.command("robot", "export-rds", "--format", "json").lines
    return {
        row["url"]: {name: values for name, values in row["fields"].items() if name not in LEFT_OUT}
        for row in rows
    }


def alike(found: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    """Return descriptions with one name for both twins: the one that answers first is described."""
    return {url.replace("/twin2", "/twin1"): fields for url, fields in found.items()}


def fresh(folder: Path, url: str) -> dict[str, dict[str, list[str]]]:
    robot = write(folder, url)
    robot.crawl()
    found = described(robot)
    assert len(found) > 6
    return found


@pytest.mark.parametrize("validators", [True, False], ids=["304", "no validators"])
@pytest.mark.parametrize("changes", [True, False], ids=["changing", "unchanged"])
def test_portal_robot_65_five_crawls_are_each_like_a_fresh_one(
    tmp_path: Path, changes: bool, validators: bool
) -> None:
    site = Site(etag=validators, last_modified=validators)
    first(site)
    with site.serve() as url:
        robot, holder = write(tmp_path / "robot", url), list[str]()
        for run in range(RUNS):
            robot.crawl()
            found = described(robot)
            assert alike(found) == alike(fresh(tmp_path / f"fresh{run}", url)), run
            twins = [one for one in found if "/twin" in one]
            assert len(twins) == 1
            if not changes:
                holder = holder or twins
                assert twins == holder, "nothing has changed, so the same one is described"
            if changes and run < len(CHANGES):
                CHANGES[run](site)


@pytest.mark.servers
@pytest.mark.parametrize("changes", [True, False], ids=["changing", "unchanged"])
def test_portal_robot_136_five_loops_end_like_a_fresh_crawl(tmp_path: Path, changes: bool) -> None:
    site = Site()
    first(site)
    with site.serve() as url:
        robot = write(tmp_path / "robot", url, onCompletion="loop")
        process = robot.workspace.start("robot", "start", "-c", "config/robot.conf")
        for loop in range(RUNS):
            seen = site.count("/")
            until(lambda seen=seen: site.count("/") > seen, process)
            if changes and loop < len(CHANGES):
                CHANGES[loop](site)
        seen = site.count("/")
        until(lambda: site.count("/") >= seen + 2, process)  # a whole loop has seen the last change
        assert robot.command("robot", "stop").code == 0
        process.communicate(timeout=100)
        robot.crawl()
        assert alike(described(robot)) == alike(fresh(tmp_path / "fresh", url))
