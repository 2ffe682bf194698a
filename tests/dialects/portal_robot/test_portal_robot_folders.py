"""A portal robot whose starting points are folders of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.named import named
from support.project import Ended, Workspace
from support.robot import RobotFiles
from support.site import Site

from ultracrawl.sources import Loaded
from ultracrawl.sources.dialects import read_definitions


@pytest.fixture
def share(tmp_path: Path) -> Path:
    for name, text in {
        "index.html": '<title>Home</title> needle <a href="sub/page.html">further</a>',
        "sub/page.html": "<title>Page</title> needle <a href=../../outside.html>outside</a>",
        "sub/untitled.html": "needle",
        "sub/deep/far.html": "<title>Far</title> needle",
        "old.html.bak": "<title>Old</title> needle",
    }.items():
        file = tmp_path / "share" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "share"


@pytest.fixture
def robot(workspace: Workspace) -> RobotFiles:
    return RobotFiles(workspace)


def add_site(robot: RobotFiles, share: Path, *, depth: str = "", lines: str = "", name: str = "docs") -> None:
    limit = f" depth={depth}" if depth else ""
    site = f'<Site name={name}>\n{lines}   Start url="{share.as_uri()}/"{limit}\n   Use rule=backup-files\n</Site>\n'
    robot.write("filterrules.conf", robot.text("filterrules.conf") + site)


def lint_of(robot: RobotFiles) -> Ended:
    return robot.workspace.command("lint", "config/robot.conf")


def read(robot: RobotFiles) -> Loaded:
    return read_definitions(str(robot.config / "robot.conf"))


def outcomes(robot: RobotFiles, share: Path) -> dict[str, object]:
    rows = robot.command("urls", "--json").lines
    start = f"{share.as_uri()}/"
    return {row["access_url"].removeprefix(start): row["outcome"] for row in rows}


def test_files_of_a_folder_are_described_if_the_filters_let_them_in(robot: RobotFiles, share: Path) -> None:
    add_site(robot, share)
    assert lint_of(robot).code == 0
    robot.crawl()
    assert outcomes(robot, share) == {
        "index.html": "NEW",
        "sub/page.html": "NEW",
        "sub/untitled.html": "NEW",
        "sub/deep/far.html": "NEW",
        "old.html.bak": "REJECTED",
    }
    hits = robot.found("needle")
    assert {hit["title"] for hit in hits} == {"Home", "Page", "untitled.html", "Far"}
    assert {hit["kind"] for hit in hits} == {901}
    robot.crawl()
    assert outcomes(robot, share)["index.html"] == "NEW", "what is unchanged is not visited again"


def test_other_filter_rules_hold_for_unchanged_files_too(robot: RobotFiles, share: Path) -> None:
    add_site(robot, share)
    robot.crawl()
    rules = robot.text("filterrules.conf")
    robot.write(
        "filterrules.conf",
        rules.replace("   Use rule=backup-files\n", "   Use rule=far\n")
        + "<FilterRule name=far>\n   Match source=path by=contains string=/deep/\n</FilterRule>\n",
    )
    robot.crawl()
    found = outcomes(robot, share)
    assert (found["sub/deep/far.html"], found["old.html.bak"]) == ("REJECTED", "NEW")
    assert len(robot.found("needle")) == 4


@pytest.mark.parametrize(("depth", "levels"), [("1", 0), ("2", 1), ("-1", None), ("", 9)])
def test_a_step_is_a_folder(robot: RobotFiles, share: Path, depth: str, levels: int | None) -> None:
    robot.properties(depth=10)
    add_site(robot, share, depth=depth)
    project = read(robot).project
    assert project is not None
    (source,) = project.sources.values()
    assert (source.name, source.type, source.levels) == ("robot", "file", levels)  # type: ignore[attr-defined]  # of its kind
    assert [str(path) for path in source.folders] == [str(share)]  # type: ignore[attr-defined]  # of its kind


def test_a_starting_point_of_robot_conf_has_a_site_of_its_own(robot: RobotFiles, share: Path) -> None:
    robot.properties(start=share.as_uri())
    robot.write("filterrules.conf", "")
    robot.crawl()
    assert len(robot.found("needle")) == 5


def test_hosts_that_let_no_files_in_are_reported(robot: RobotFiles, share: Path) -> None:
    add_site(robot, share, lines="   Host name=localhost\n")
    told = lint_of(robot).out
    assert "Host name=localhost protocol=file" in named(told)
    robot.crawl(code=1)
    assert set(outcomes(robot, share).values()) == {"REJECTED"}


def test_create_site_lets_files_in(robot: RobotFiles, share: Path) -> None:
    made = robot.command("robot", "create-site", "docs", "--start", f"{share.as_uri()}/")
    assert made.code == 0, made.err
    lint = lint_of(robot)
    assert (lint.code, lint.out) == (0, "")
    assert robot.command("robot", "status", "--json").json["starting_points"] == 1


@pytest.mark.parametrize("url", ["file://server/docs/", "file:docs", "file:///srv/docs/?x=1"])
def test_a_folder_elsewhere_is_a_mistake(robot: RobotFiles, url: str) -> None:
    robot.write("filterrules.conf", f'<Site name=docs>\n   Start url="{url}"\n</Site>\n')
    lint = lint_of(robot)
    assert lint.code == 2
    assert "filterrules.conf:2 - " in lint.out


def test_servers_and_folders_are_two_sources_and_that_is_reported(
    robot: RobotFiles, share: Path, site: Site, url: str
) -> None:
    site.page("/", title="Web", text="needle")
    robot.site(f"{url}/")
    add_site(robot, share)
    lint = lint_of(robot)
    assert lint.code == 0
    assert "robot-files" in named(lint.out)
    assert robot.command("crawl").code == 0
    assert {hit["source"] for hit in robot.found("needle")} == {"robot", "robot-files"}
    refused = robot.command("robot", "status")
    assert (refused.code, "--source" in refused.err) == (2, True)
    assert robot.command("robot", "status", "--source", "robot-files").code == 0


def test_it_becomes_yaml_that_means_the_same(robot: RobotFiles, share: Path) -> None:
    add_site(robot, share, depth="3")
    converted = robot.workspace.command("convert", "config/robot.conf")
    assert converted.code == 0, converted.err
    file = robot.workspace.directory / "converted.yaml"
    file.write_text(converted.out)
    there, back = read(robot).project, read_definitions(str(file)).project
    assert there is not None
    assert back is not None
    assert back.sources == there.sources
