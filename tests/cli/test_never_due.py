"""What `lint` and `status` say of sources that nothing crawls by time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from support.clock import wall_time
from support.named import named
from support.project import Workspace
from support.sentences import sentence

from ultracrawl.model.dates import as_text

SOURCE = {"start_urls": ["http://127.0.0.1:1/"]}
SOURCES: dict[str, Mapping[str, Any]] = {
    "plain": SOURCE,
    "hourly": {**SOURCE, "refresh": {"interval": "1 h"}},
    "always": {**SOURCE, "refresh": {"when_idle": True}},
    "nightly": SOURCE,
    "resting": SOURCE,
}
SCHEDULES = {
    "night": {"sources": "nightly", "cron": "0 3 * * *"},
    "rests": {"sources": "resting", "every": "day", "enabled": False},
}


def test_lint_hints_with_the_line_at_what_is_never_due(workspace: Workspace) -> None:
    workspace.write({"sources": SOURCES, "schedules": SCHEDULES})
    hints = [json.loads(line) for line in workspace.command("lint", "--json").out.splitlines()]
    assert [(hint["key"], hint["fatal"]) for hint in hints] == [("sources.resting", False)]
    workspace.write({"processes": {"default_interval": None}, "sources": SOURCES, "schedules": SCHEDULES})
    told = workspace.command("lint")
    assert told.code == 0
    lines = (workspace.directory / "ultracrawl.yaml").read_text().splitlines()
    for name in ("plain", "resting"):
        number = next(one for one, line in enumerate(lines, 1) if line.startswith(f"  {name}:"))
        assert f"ultracrawl.yaml:{number} - sources.{name} - `serve` never crawls it" in told.out
    assert "never crawls it" not in workspace.command("status").err, "other commands do not repeat it"


def test_status_says_when_a_source_is_due_or_why_it_is_not(workspace: Workspace) -> None:
    workspace.write({"sources": SOURCES, "schedules": SCHEDULES})
    rows = {row["source"]: row for row in workspace.command("status", "--json").json["sources"]}
    assert {name: row["due_by"] for name, row in rows.items()} == {
        "plain": "default-interval",
        "hourly": "interval",
        "always": "interval",
        "nightly": "schedule",
        "resting": "schedule",
    }
    assert rows["plain"]["next_run"] is not None
    assert named(rows["resting"]["never_due"]) == ["enabled: false"]
    assert [row["never_due"] for name, row in rows.items() if name != "resting"] == [None] * 4
    told = workspace.command("status").out
    assert sentence("schedules.due_by_default_interval") in told
    times = re.findall(r"\b20\d\d-\S+Z", told)
    assert times, "that of the schedule"
    assert min(times) > as_text(wall_time()), "no next run is in the past"
    assert workspace.command("schedule", "stop", "night").code == 0
    told = workspace.command("status").out
    assert "not due: its schedule night is stopped" in told


@pytest.mark.parametrize("value", ["often", 0, "2 years"])
def test_a_value_that_is_no_length_of_time_is_a_mistake(workspace: Workspace, value: object) -> None:
    workspace.write({"processes": {"default_interval": value}, "sources": SOURCES})
    told = workspace.command("lint")
    assert told.code == 2
    assert "processes.default_interval" in told.out
