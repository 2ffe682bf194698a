"""Functions of your own that end the session or begin its cycle anew (portal robot 19), and how often Setup runs."""

from __future__ import annotations

import pytest
from support.project import Workspace, kill_group
from support.robot import RobotFiles
from support.site import Site
from support.until import until

PAGES = 12
FILTERS = """Setup fn=load-modules module="mine"
<Filter name="enumeration-default">
   Setup     fn=begin
   Enumerate fn=enumerate-urls
   Shutdown  fn=end
</Filter>
<Filter name="generation-default">
   {line}
   Generate fn=extract-html-meta
   Generate fn=extract-html-text
</Filter>
"""
MODULE = """from pathlib import Path

from ultracrawl.rules.filters import REQ_EXIT, REQ_RESTART, filter_function


def note(word):
    with Path("notes.txt").open("a") as notes:
        print(word, file=notes)


@filter_function(under=["Setup"])
def begin(pb, csf, csr):
    note("begin")


@filter_function(under=["Shutdown"])
def end(pb, csf, csr):
    note("end")


@filter_function()
def judge(pb, csf, csr):
    if csr.source("path") in ("/3", ""):
        note("judged")
        return {answer}
"""


@pytest.fixture
def robot(workspace: Workspace, site: Site, url: str) -> RobotFiles:
    site.page("/", title="Home", text="needle", links=[f"/{number}" for number in range(PAGES)])
    for number in range(PAGES):
        site.page(f"/{number}", title=f"Page {number}", text=f"needle {number}")
    files = RobotFiles(workspace)
    files.site(f"{url}/")
    return files


def judging(robot: RobotFiles, answer: str, phase: str = "Data", **properties: object) -> None:
    directory = robot.workspace.directory
    (directory / "mine.py").write_text(MODULE.replace("{answer}", answer))
    robot.write("filter.conf", FILTERS.replace("{line}", f"{phase} fn=judge"))
    robot.properties(site_max_concurrent=1, max_concurrent=1, **properties)


def notes(robot: RobotFiles) -> list[str]:
    path = robot.workspace.directory / "notes.txt"
    return path.read_text().splitlines() if path.exists() else []


def crawl(robot: RobotFiles) -> list[dict[str, object]]:
    ended = robot.workspace.command("crawl", "--json", "-c", "config/robot.conf")
    assert ended.code == 0, ended.err
    runs = ended.json["runs"]
    assert isinstance(runs, list)
    return runs


def log(robot: RobotFiles) -> str:
    return (robot.workspace.directory / "robot/var/log/robot.robot.log").read_text()


@pytest.mark.parametrize("phase", ["MetaData", "Data", "Generate"])
def test_req_exit_ends_the_session_and_the_next_start_goes_on(
    robot: RobotFiles, site: Site, phase: str
) -> None:
    judging(robot, "REQ_EXIT", phase)
    (run,) = crawl(robot)
    assert run["ended_by"] == "judge answered REQ_EXIT"
    assert "judge answered REQ_EXIT" in log(robot)
    assert site.count("/11") == 0, "nothing more is asked for"
    (run,) = crawl(robot)
    assert (run["resumed"], site.count("/11")) == (True, 1), "the rest of the run"
    assert notes(robot) == ["begin", "judged", "end", "begin", "end"], "the resource that did it is done with"


def test_req_exit_under_setup_lets_nothing_be_fetched(robot: RobotFiles, site: Site) -> None:
    judging(robot, "REQ_EXIT", "Setup")
    (run,) = crawl(robot)
    assert run["ended_by"] == "Setup of generation-default answered REQ_EXIT"
    assert not [request for request in site.requests if request.path != "/robots.txt"]


def test_req_exit_ends_a_robot_that_would_loop(robot: RobotFiles) -> None:
    hook = robot.workspace.directory / "hook.sh"
    hook.write_text("#!/bin/sh\ntouch hooked\n")
    hook.chmod(0o755)
    judging(robot, "REQ_EXIT", onCompletion="loop", cmd_hook=hook)
    ended = robot.workspace.command("robot", "start", "-c", "config/robot.conf")
    assert ended.code == 0, ended.err
    assert robot.command("robot", "status", "--json").json["state"] == "Off"
    assert not (robot.workspace.directory / "hooked").exists(), "the run was not complete"
    assert "Restart Robot." not in log(robot)


@pytest.mark.parametrize("verb", ["crawl", "robot start"])
def test_req_restart_begins_the_cycle_anew_a_few_times_and_no_more(robot: RobotFiles, verb: str) -> None:
    judging(robot, "REQ_RESTART", "MetaData")
    words = [*verb.split(), "-c", "config/robot.conf"]
    ended = robot.workspace.command(*words)
    assert ended.code == 0, ended.err
    assert notes(robot).count("judged") == 4, "three new cycles, then the answer only denies"
    assert robot.command("robot", "status", "--json").json["waiting"] == 0, "the last cycle comes to its end"
    assert log(robot).count("judge answered REQ_RESTART; ignored") == 1
    assert "denied: " not in log(robot)
    assert len(robot.found("needle")) == PAGES, "one of 13 pages is denied"
    assert ended.out.count("run ") >= 4


def test_the_number_of_restarts_is_an_option(workspace: Workspace, site: Site, url: str) -> None:
    site.page("/", title="Home", text="needle", links=["/3"])
    site.page("/3", title="Page", text="needle 3")
    (workspace.directory / "mine.py").write_text(MODULE.replace("{answer}", "REQ_RESTART"))
    (workspace.directory / "filter.conf").write_text(
        FILTERS.replace("{line}", "Data fn=judge").partition("\n")[2]
    )
    for restarts, runs in ((0, 1), (2, 3)):
        filters = {"file": "filter.conf", "modules": ["mine"], "restarts": restarts}
        workspace.define(f"{url}/", filters=filters, sitemaps={"use": False})
        ended = workspace.command("crawl", "--json", "--force")
        assert len(ended.json["runs"]) == runs, ended.err
        assert ended.code == 0


@pytest.mark.processes
def test_portal_robot_7_8_setup_and_shutdown_run_once_in_the_life_of_a_robot_that_loops(
    robot: RobotFiles, site: Site
) -> None:
    judging(robot, "0", onCompletion="loop")
    process = robot.workspace.start("robot", "start", "-c", "config/robot.conf")
    try:
        until(lambda: site.count("/11") >= 3, process)
        assert robot.command("robot", "stop").code == 0
        process.communicate(timeout=100)
    finally:
        kill_group(process)
    assert [note for note in notes(robot) if note != "judged"] == ["begin", "end"]
