"""A robot that keeps to its bounds: requests at once, no open port, and functions of others that misbehave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.crowd import Crowd
from support.project import Workspace, kill_group
from support.robot import RobotFiles
from support.site import Site
from support.until import until

FILTERS = """Setup fn=load-modules module="mine" funcs="bad"
<Filter name="e">
   Enumerate fn=enumerate-urls
</Filter>
<Filter name="g">
   {line}
   Generate fn=extract-html-meta
   Generate fn=extract-html-text
</Filter>
"""
BODIES = {
    "raises": "raise ValueError('broken')",
    "loops": "\n        while True:\n            pass",
    "loops and catches all": "\n        while True:\n            try:\n                [0] * 9\n"
    "            except Exception:\n                pass",
    "eats memory": "\n        kept = []\n        while True:\n            kept.append(bytearray(1 << 24))",
    "answers nonsense": "return 'yes'",
    "recurses": "return bad(pb, csf, csr)",
}


CASES = [(name, "Data") for name in BODIES]
CASES += [
    (name, phase) for name in ("loops and catches all", "eats memory") for phase in ("MetaData", "Generate")
]


@pytest.mark.parametrize(("name", "phase"), CASES, ids=[f"{name} under {phase}" for name, phase in CASES])
def test_a_function_that_misbehaves_costs_one_resource(
    site: Site, url: str, workspace: Workspace, name: str, phase: str
) -> None:
    site.page("/", title="Home", text="needle", links=["/bad", "/b"])
    site.page("/bad", title="Bad", text="needle in bad")
    site.page("/b", title="B", text="needle in b")
    code = f"def bad(pb, csf, csr):\n    if csr.source('path') == '/bad':\n        {BODIES[name]}\n    return 0\n"
    (workspace.directory / "mine.py").write_text(code)
    (workspace.directory / "filter.conf").write_text(FILTERS.format(line=f"{phase} fn=bad"))
    filters = {
        "file": "filter.conf",
        "enumeration": "e",
        "generation": "g",
        "function_timeout": 0.3,
        "function_memory": "200 MB",
    }
    workspace.define(f"{url}/", filters=filters, sitemaps={"use": False})
    run = workspace.crawl().run
    outcomes = {"NEW": 2, "NOT_INDEXED": 1}
    assert run["outcomes"] == outcomes
    assert str(workspace.urls()["/bad"]["reason"]).startswith("bad answered REQ_ABORTED: ")


@pytest.mark.parametrize("most", [1, 3])
def test_portal_robot_128_no_more_than_max_concurrent_are_open_at_once(
    site: Site, url: str, workspace: Workspace, most: int
) -> None:
    robot = RobotFiles(workspace)
    crowd = Crowd(most)
    site.page("/", links=crowd.at(site, [f"/p{number}" for number in range(2 * most)]))
    robot.site(f"{url}/")
    robot.properties(max_concurrent=most, site_max_concurrent=8)
    robot.crawl()
    assert crowd.most == most


@pytest.mark.parametrize("remote", ["no", "yes"])
@pytest.mark.processes
def test_portal_robot_126_commands_of_other_hosts_are_never_taken(
    site: Site, url: str, workspace: Workspace, remote: str
) -> None:
    robot = RobotFiles(workspace)
    site.page("/", title="Home", text="needle")
    robot.site(f"{url}/")
    robot.properties(onCompletion="idle", command_port=21445, remote_access=remote)
    process = workspace.start("robot", "start", "-c", "config/robot.conf")
    try:
        until(lambda: robot.command("robot", "status", "--json").json["state"] == "Idle", process)
        assert not listening(process.pid), "there is no port that anybody could send a command to"
    finally:
        kill_group(process)


def listening(pid: int) -> set[str]:
    """Return the sockets of a process that listen."""
    own = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            own.add(os.readlink(file))
        except FileNotFoundError:
            continue
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()
    ]
    return {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"} & own


def test_portal_robot_131_no_command_changes_csid(workspace: Workspace, site: Site, url: str) -> None:
    robot = RobotFiles(workspace)
    site.page("/", title="Home", text="needle")
    robot.site(f"{url}/")
    before = robot.text("robot.conf")
    for words in (
        ("create-site", "siroe.com"),
        ("disable-sites", "siroe.com"),
        ("delete-site", "siroe.com", "--yes"),
        ("start",),
        ("clear", "--yes"),
    ):
        assert robot.command("robot", *words).code == 0
    assert robot.text("robot.conf") == before
