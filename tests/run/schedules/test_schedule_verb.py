"""`ultracrawl schedule`, and orders for what is kept, whether anything keeps it or not."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from support.project import LOOPBACK, Ended, Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import until

from ultracrawl.stores.file_notes import FileNotes
from ultracrawl.stores.runner_registry import RunnerRegistration

QUIET = {
    "politeness": {"delay": 0, "backoff": {"longest": 0}},
    "boundary": LOOPBACK,
    "sitemaps": {"use": False},
    "limits": {"retries": 0},
}
RARELY = {"cron": "0 0 29 2 *"}


@pytest.fixture
def scheduled(site: Site, url: str, workspace: Workspace) -> Workspace:
    """Two sources in a schedule that comes once in four years, and one with an interval of its own."""
    site.page("/", title="Home", text="needle")
    source = {"start_urls": [f"{url}/"], **QUIET}
    workspace.write({
        "sources": {"a": source, "b": source, "c": {**source, "refresh": {"interval": "24 h"}}},
        "schedules": {"nightly": {"sources": ["a", "b"], **RARELY}},
    })  # fmt: skip
    return workspace


def state(workspace: Workspace, name: str = "nightly") -> dict[str, Any]:
    states = workspace.command("schedule", "list", "--json").json["schedules"]
    return next(one for one in states if one["name"] == name)


def test_schedules_are_listed(scheduled: Workspace) -> None:
    row = state(scheduled)
    assert row["next_run"].endswith("-02-29T00:00:00Z")
    assert {name: row[name] for name in ("sources", "status", "error", "last_begin", "force")} == {
        "sources": ["a", "b"],
        "status": "scheduled",
        "error": None,
        "last_begin": None,
        "force": False,
    }
    told = scheduled.command("schedule", "list").out
    assert "nightly: scheduled; next 20" in told
    assert "nothing runs it now" in told


def test_without_schedules_it_says_so(site: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    assert workspace.command("schedule", "list").out == "No schedules are defined.\n"


@pytest.mark.parametrize("verb", ["show", "launch", "stop", "enable"])
def test_an_unknown_name_is_a_mistake(scheduled: Workspace, verb: str) -> None:
    ended = scheduled.command("schedule", verb, "weekly")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "'weekly'" in ended.err
    assert "nightly" in ended.err


def test_orders_are_remembered_while_nothing_keeps_it(scheduled: Workspace) -> None:
    def order(verb: str) -> Ended:
        return scheduled.command("schedule", verb, "nightly")

    assert (order("disable").code, state(scheduled)["status"]) == (0, "disabled")
    assert state(scheduled)["next_run"] is None
    refused = order("stop")
    assert (refused.code, sentence("schedules.disabled") in refused.err) == (2, True)
    assert (order("enable").code, state(scheduled)["status"]) == (0, "scheduled")
    assert (order("stop").code, state(scheduled)["status"]) == (0, "stopped")
    assert (order("resume").code, state(scheduled)["status"]) == (0, "scheduled")


@pytest.mark.processes
def test_it_is_launched_here_while_nothing_keeps_it__ultra_search_125_126(
    scheduled: Workspace, site: Site
) -> None:
    ended = scheduled.command("schedule", "launch", "nightly", "--json")
    assert sorted(run["source"] for line in ended.lines for run in line["runs"]) == ["a", "b"]
    assert ended.code == 0, ended.err
    row = scheduled.command("schedule", "show", "nightly", "--json").json
    assert row["last_begin"] <= row["last_end"]
    (run,) = row["runs"]
    assert (run["status"], run["sources"]) == ("scheduled", {"a": None, "b": None})
    assert len(run["log"].splitlines()) == 2
    for log in run["log"].splitlines():
        path = scheduled.directory / log
        assert path.parent == scheduled.directory / "var" / "log"
        assert "\nCrawling results\n" in path.read_text()
    assert "scheduled" in scheduled.command("schedule", "show", "nightly").out
    scheduled.command("schedule", "launch", "nightly")
    again = scheduled.command("schedule", "show", "nightly", "--json").json["runs"]
    assert len({log for run in again for log in run["log"].splitlines()}) == 4, "each run has logs of its own"


@pytest.mark.processes
def test_a_launch_that_fails_ends_with_1_and_keeps_the_error__ultra_search_114(
    scheduled: Workspace, site: Site
) -> None:
    site.respond("/", status=500)
    ended = scheduled.command("schedule", "launch", "nightly")
    assert ended.code == 1
    row = state(scheduled)
    assert row["status"] == "failed"
    assert "a: " in row["error"]
    assert row["next_run"] is not None


def test_a_launch_without_a_folder_for_logs_fails_with_its_name__ultra_search_37(
    scheduled: Workspace, site: Site
) -> None:
    folder = scheduled.directory / "var" / "log"
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("no folder")
    assert scheduled.command("schedule", "launch", "nightly").code == 1
    row = state(scheduled)
    assert (row["status"], str(folder) in row["error"], site.requests) == ("failed", True, [])
    assert row["next_run"] is not None


def test_status_shows_when_a_source_is_due(scheduled: Workspace) -> None:
    rows = {row["source"]: row for row in scheduled.command("status", "--json").json["sources"]}
    assert (rows["a"]["schedule"], rows["a"]["next_run"][4:10]) == ("nightly", "-02-29")
    assert rows["c"]["schedule"] is None
    scheduled.command("crawl", "c")
    rows = {row["source"]: row for row in scheduled.command("status", "--json").json["sources"]}
    assert rows["c"]["next_run"] > rows["c"]["last_run"]["finished"]
    assert [row["kept"] for row in rows.values()] == [False] * 3
    with closing(RunnerRegistration(FileNotes(scheduled.directory / "var" / "state" / "schedules"))) as badge:
        badge.claim(["nightly"], ["a", "b"])
        rows = {row["source"]: row for row in scheduled.command("status", "--json").json["sources"]}
        assert {name: row["kept"] for name, row in rows.items()} == {"a": True, "b": True, "c": False}


def test_an_examining_schedule_waits_for_approval__ultra_search_116_117(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/kept", "/removed"], text="first")
    site.page("/kept", title="Kept", text="needle one")
    site.page("/removed", title="Removed", text="needle two")
    workspace.write({
        "sources": {"a": {"start_urls": [f"{url}/"], **QUIET}},
        "schedules": {"look": {"sources": "a", "mode": "examine", **RARELY}},
    })  # fmt: skip
    assert workspace.command("schedule", "launch", "look").code == 0
    assert state(workspace, "look")["status"] == "indexing pending"
    assert workspace.search("needle") == []
    workspace.command("approve", "a", "--remove", f"{url}/removed")
    assert workspace.command("approve", "a").code == 0
    assert workspace.search("needle") == ["/kept"]
    assert state(workspace, "look")["status"] == "scheduled"


@pytest.fixture(params=["1", "3"], ids=["in one process", "in processes"])
def kept(request: pytest.FixtureRequest, scheduled: Workspace) -> Iterator[subprocess.Popen[str]]:
    """A process that keeps everything; its own interval has had its crawl."""
    process = scheduled.start("crawl", "--continuous", "--json", "--jobs", request.param)
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    assert [run["source"] for run in first["runs"]] == ["c"]
    yield process
    kill_group(process)


@pytest.mark.processes
def test_who_keeps_it_takes_orders(scheduled: Workspace, kept: subprocess.Popen[str], site: Site) -> None:
    assert "nothing runs it" not in scheduled.command("schedule", "list").out
    paused = scheduled.command("pause", "b", "--json").json["sources"][0]
    assert (paused["obeyed"], paused["state"]) == (True, "idle")
    assert scheduled.command("schedule", "launch", "nightly").code == 0
    assert kept.stdout is not None
    assert [run["source"] for run in json.loads(kept.stdout.readline())["runs"]] == ["a"]
    assert state(scheduled)["status"] == "executing"
    scheduled.command("resume", "b")
    assert [run["source"] for run in json.loads(kept.stdout.readline())["runs"]] == ["b"]
    until(lambda: state(scheduled)["status"] == "scheduled")
    assert scheduled.command("schedule", "disable", "nightly").code == 0
    assert state(scheduled)["status"] == "disabled"
    kept.send_signal(signal.SIGINT)
    _, err = kept.communicate(timeout=60)
    assert (kept.returncode, "Traceback" in err) == (0, False)
    assert "next: " in err, "it says what it waits for"


@pytest.mark.processes
def test_when_everything_is_stopped_between_cycles_the_process_ends(
    scheduled: Workspace, kept: subprocess.Popen[str]
) -> None:
    assert scheduled.command("stop", "c").code == 0
    assert scheduled.command("schedule", "stop", "nightly").code == 0
    _, err = kept.communicate(timeout=60)
    assert (kept.returncode, "Traceback" in err) == (0, False)


@pytest.mark.processes
def test_two_processes_do_not_keep_the_same(scheduled: Workspace, kept: subprocess.Popen[str]) -> None:
    refused = scheduled.command("crawl", "--continuous", "c")
    assert refused.code == 2
    assert refused.err.startswith(f"ultracrawl: c: process {kept.pid} runs this already")
