"""Of several sources, one that cannot begin fails alone."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from support.project import LOOPBACK, Ended, Workspace
from support.site import Site


@pytest.fixture
def several(site: Site, url: str, workspace: Workspace) -> Workspace:
    """A project whose second source of three has a password that is nowhere."""
    site.page("/", title="Home", text="needle")
    common: dict[str, Any] = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "refresh": {"interval": "1 h"},
    }
    entry = {"user": "robot", "url": f"{url}/", "password": "${NOT_THERE}"}
    closed = {**common, "authentication": {"staff": entry}}
    workspace.write({"sources": {"a": common, "b": closed, "c": common}})
    return workspace


REASON = "authentication.staff.password: the environment variable NOT_THERE is not set"


def test_the_others_are_crawled(several: Workspace) -> None:
    ended = several.command("crawl", "--json")
    runs = {run["source"]: run for run in ended.json["runs"]}
    assert ended.code == 1
    assert {name: run["outcomes"] for name, run in runs.items()} == {
        "a": {"NEW": 1},
        "b": {},
        "c": {"NEW": 1},
    }
    assert [REASON in line for line in runs["b"]["problems"]] == [True]
    assert (runs["b"]["run_id"], runs["b"]["started"]) == (None, None)


def test_it_is_reported_in_one_line(several: Workspace) -> None:
    ended = several.command("crawl")
    assert ended.code == 1
    told = [line for line in ended.err.splitlines() if line.strip()]
    assert len(told) == 1, ended.err
    assert told[0].startswith("b: not crawled: ")
    assert REASON in told[0]


def test_alone_it_is_the_users_mistake(several: Workspace) -> None:
    ended = several.command("crawl", "b")
    assert (ended.code, REASON in ended.err) == (2, True)


def continuously(workspace: Workspace, lines: int) -> Ended:
    """Stay until so many runs are told, and end."""
    process = workspace.start("crawl", "--continuous", "--json")
    assert process.stdout is not None
    told = "".join(process.stdout.readline() for _ in range(lines))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    return Ended(process.returncode, told + out, err)


@pytest.mark.processes
def test_who_stays_goes_on_with_the_others(several: Workspace) -> None:
    ended = continuously(several, 3)
    runs = {run["source"]: run for line in ended.lines for run in line["runs"]}
    assert {name: run["outcomes"] for name, run in runs.items()} == {
        "a": {"NEW": 1},
        "b": {},
        "c": {"NEW": 1},
    }
    assert "Traceback" not in ended.err


def test_status_tells_why_it_could_not_begin(several: Workspace) -> None:
    several.command("crawl")
    row = {row["source"]: row for row in several.command("status", "--json").json["sources"]}["b"]
    assert row["state"] == "failed"
    assert REASON in row["failure"]["problem"]
    assert row["failure"]["time"].endswith("Z")
    assert REASON in several.command("status").out
    several.command("crawl", NOT_THERE="secret")
    row = {row["source"]: row for row in several.command("status", "--json").json["sources"]}["b"]
    assert (row["state"], row["failure"]) == ("idle", None)
