"""Orders reach running crawls and robots whatever mistakes their definitions have: they need only the state."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from support.fast import fast_xml
from support.project import LOOPBACK, Workspace, kill_group
from support.robot import RobotFiles
from support.sentences import sentence
from support.site import Site
from support.until import PATIENCE, until

from ultracrawl.stores.control_channel import Phase, crawl_status
from ultracrawl.stores.file_notes import notes_beside

pytestmark = [pytest.mark.servers, pytest.mark.processes]

MISTAKES = {
    "a misspelt function": ("filter.conf", "fn=generate-md5", "fn=generate-md6"),
    "a module of another shell": (
        "filter.conf",
        "<Filter",
        'Setup fn=load-modules module="gone" funcs="f"\n<Filter',
    ),
    "a property that is no number": ("robot.conf", 'server-delay="0"', 'server-delay="soon"'),
    "a file that is not there": ("filterrules.conf", "", None),
}


@pytest.fixture
def started(workspace: Workspace, site: Site) -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.stdout is not None and not process.stdout.closed:
            kill_group(process)


def recorded(workspace: Workspace) -> list[str]:
    """Return the orders in the audit log, in order."""
    (log,) = workspace.directory.rglob("audit.jsonl")
    rows = map(json.loads, log.read_text().splitlines())
    return [row["action"] for row in rows if row["result"] != "begun"]


def code_of(process: subprocess.Popen[str]) -> int:
    """Wait for the end of a process; returns its exit code."""
    process.communicate(timeout=PATIENCE)
    return process.returncode


@pytest.fixture
def robot(workspace: Workspace, site: Site, url: str, started: list[subprocess.Popen[str]]) -> RobotFiles:
    site.page("/", title="Home", text="needle")
    made = RobotFiles(workspace)
    made.site(f"{url}/")
    made.properties(onCompletion="idle")
    started.append(workspace.start("robot", "start", "-c", "config/robot.conf"))
    until(lambda: made.command("robot", "status", "--json").json["state"] == "Idle", started[0])
    return made


@pytest.mark.parametrize(("name", "good", "bad"), MISTAKES.values(), ids=MISTAKES)
def test_a_robot_is_steered_while_its_files_have_a_mistake(
    robot: RobotFiles, started: list[subprocess.Popen[str]], name: str, good: str, bad: str | None
) -> None:
    if bad is None:
        (robot.config / name).unlink()
    else:
        assert good in robot.text(name)
        robot.write(name, robot.text(name).replace(good, bad, 1))
    assert robot.command("crawl").code == 2, "it is a mistake"
    status = robot.command("robot", "status", "--json").json
    assert (status["state"], status["starting_points"], status["indexed"]) == ("Idle", None, 1)
    assert "Starting Points: unknown" in robot.command("robot", "status").out
    assert robot.command("robot", "pause").out == "robot: Paused\n"
    assert robot.command("robot", "resume").out == "robot: Idle\n"
    assert robot.command("robot", "report", "servers").code == 0
    assert robot.command("robot", "stop").out == "robot: Off\n"
    assert code_of(started[0]) == 0
    assert robot.command("robot", "clear", "--yes").out == "robot: 1 URL forgotten\n"
    assert robot.command("robot", "start").code == 2
    assert recorded(robot.workspace) == ["robot pause", "robot resume", "robot stop", "robot clear"]


def test_a_crawl_is_steered_while_its_file_is_no_yaml(
    workspace: Workspace, site: Site, url: str, started: list[subprocess.Popen[str]]
) -> None:
    site.page("/", title="Home", text="needle", links=["/a"])
    answer = site.hold("/")
    workspace.write({"sources": {"one": {"start_urls": [f"{url}/"], "boundary": LOOPBACK}}})
    started.append(workspace.start("crawl"))
    until(lambda: site.count("/"), started[0])
    (workspace.directory / "ultracrawl.yaml").write_text("sources: {one: [\n")
    assert workspace.command("lint").code == 2, "it is a mistake"
    (row,) = workspace.command("status", "--json").json["sources"]
    assert (row["source"], row["state"], len(row["mistakes"])) == ("one", "running", 1)
    unknown = workspace.command("stop", "two")
    assert (unknown.code, "ultracrawl.yaml" in unknown.err) == (2, True)
    assert workspace.command("pause", "one", "--no-wait").code == 0
    (state,) = workspace.directory.glob("var/state/one.sqlite")

    def phase() -> Phase | None:
        status = crawl_status(notes_beside(state))
        return status.phase if status else None

    until(lambda: phase() is Phase.PAUSING, started[0])
    assert workspace.command("resume", "one").code == 0
    stopping = workspace.start("stop", "one")
    until(lambda: phase() is Phase.STOPPING, started[0])
    answer.set()
    assert stopping.communicate(timeout=PATIENCE)[0] == sentence("stop.one_resumed_by_next_crawl")
    assert code_of(started[0]) == 1
    assert [one for one in recorded(workspace) if one != "stop"] == ["pause", "resume"]


def test_a_collection_is_suspended_while_its_file_is_no_xml(
    workspace: Workspace, site: Site, url: str, started: list[subprocess.Popen[str]]
) -> None:
    site.page("/", title="Home", text="needle", links=["/a"])
    site.page("/a", title="A", text="needle")
    answer, last = site.hold("/"), site.hold("/a")
    xml = workspace.directory / "collections.xml"
    options = {"start_uris": (f"{url}/",), "delay": 0.01}
    xml.write_text(fast_xml(options))
    (workspace.directory / "networks.txt").write_text("127.0.0.0/8\n")
    started.append(workspace.start("crawl", "-c", "collections.xml"))
    until(lambda: site.count("/"), started[0])
    xml.write_text("<CrawlerConfig><DomainSpecification")
    suspending = workspace.start("admin", "suspend", "handbook", "-c", "collections.xml")
    (state,) = workspace.directory.glob("var/state/handbook.sqlite")
    until(
        lambda: (status := crawl_status(notes_beside(state))) and status.phase is Phase.PAUSING,
        started[0],
    )
    answer.set()
    assert suspending.communicate(timeout=PATIENCE)[0] == "handbook: paused\n"
    assert workspace.command("admin", "resume", "handbook", "-c", "collections.xml").code == 0
    last.set()
    assert code_of(started[0]) == 0


def test_a_schedule_gets_orders_while_its_file_is_no_yaml(
    workspace: Workspace, site: Site, url: str, started: list[subprocess.Popen[str]]
) -> None:
    site.page("/", title="Home", text="needle")
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK}
    workspace.write({"sources": {"one": source}, "schedules": {"nightly": {"sources": ["one"], "every": 60}}})
    started.append(workspace.start("crawl", "--continuous"))
    until(lambda: "nothing runs it" not in workspace.command("schedule", "list").out, started[0])
    file = workspace.directory / "ultracrawl.yaml"
    good = file.read_text()
    file.write_text("sources: {one: [\n")
    assert workspace.command("schedule", "disable", "hourly").code == 2
    assert workspace.command("schedule", "launch", "hourly").code == 2
    assert workspace.command("schedule", "launch", "nightly").out == "nightly: launch done\n"
    until(lambda: site.count("/") == 1, started[0])
    until(lambda: not list(workspace.directory.glob("var/state/one.sqlite.crawl")), started[0])
    assert workspace.command("schedule", "disable", "nightly").out == "nightly: disable done\n"
    assert "schedule disable" in recorded(workspace)
    file.write_text(good)
    (row,) = workspace.command("schedule", "list", "--json").json["schedules"]
    assert row["status"] == "disabled"
