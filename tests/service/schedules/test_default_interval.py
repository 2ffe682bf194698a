"""Sources with neither a schedule nor an interval: when `serve` crawls them, and who says what is never due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.sentences import sentence

from ultracrawl.model import Finding
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.service.notices.watch import interval_of
from ultracrawl.service.schedules.optimisation import all_plans
from ultracrawl.service.schedules.plans import OwnInterval, Plan, due_lines, plans_of
from ultracrawl.service.supervisor.command import launch_schedule
from ultracrawl.service.supervisor.planned_crawls import CrawlOptions
from ultracrawl.sources import DataSource, InvalidSource, Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.loading.yaml_loader import load_tree
from ultracrawl.sources.reading.yaml_tree import parse_yaml
from ultracrawl.stores import RunMark

HOUR = 3600.0
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


def project(folder: Path, **head: Any) -> Project:
    """Return the project, with options of its head."""
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({**head, "sources": SOURCES, "schedules": SCHEDULES}, sort_keys=False))
    return require(read_definitions(file))


def planned(project: Project) -> list[str]:
    """Return the names of the plans of a service."""
    return [plan.name for plan in all_plans(project)]


def test_a_service_crawls_what_has_no_times_every_day(tmp_path: Path) -> None:
    found = project(tmp_path)
    assert planned(found) == ["night", "rests", "plain", "hourly", "always"]
    (plan,) = [plan for plan in all_plans(found) if plan.name == "plain"]
    timing = plan.timing
    assert isinstance(timing, OwnInterval)
    assert timing.default == 24 * HOUR
    assert timing.stale_after(1000.0) == 1000.0 + 48 * HOUR
    assert interval_of(found, found.sources["plain"], 0.0) == 24 * HOUR


def test_it_counts_from_the_latest_crawl_of_anybody_and_ends_none(tmp_path: Path) -> None:
    source = project(tmp_path).sources["plain"]
    place = CyclePlace(1, 0, 1000.0, RefreshMode.KNOWN)
    done = replace(RunMark.at(1, 1000.0, "", place), finished=1100.0)
    timing = OwnInterval(source, lambda: done, 24 * HOUR)
    assert timing.first_due(2000.0, None) == 1000.0 + 24 * HOUR
    assert timing.due_after(2000.0, failed=False, begun=True) == 1000.0 + 24 * HOUR
    assert timing.over_at(1000.0) is None, "a crawl of three days takes three days"
    assert OwnInterval(source, lambda: None, 24 * HOUR).first_due(2000.0, None) == 2000.0


def test_another_default_and_an_interval_of_its_own(tmp_path: Path) -> None:
    found = project(tmp_path, processes={"default_interval": "6 h"})
    intervals = {
        plan.name: plan.timing.default for plan in all_plans(found) if isinstance(plan.timing, OwnInterval)
    }
    assert intervals == {"plain": 6 * HOUR, "hourly": None, "always": None}


def test_without_the_default_nothing_crawls_it(tmp_path: Path) -> None:
    found = project(tmp_path, processes={"default_interval": None})
    assert planned(found) == ["night", "rests", "hourly", "always"]
    assert interval_of(found, found.sources["plain"], 0.0) is None


def test_commands_that_stay_crawl_what_has_times_alone(tmp_path: Path) -> None:
    """`crawl --continuous` asks for an interval; the default is that of `serve`."""
    assert [plan.name for plan in plans_of(project(tmp_path))] == ["night", "rests", "hourly", "always"]


def test_a_service_says_at_its_start_what_is_due_by_default_and_what_never_is(tmp_path: Path) -> None:
    by_default, never = due_lines(project(tmp_path))
    assert by_default.startswith(sentence("schedules.plain_by_interval"))
    assert never == sentence("schedules.never_due")
    lines = due_lines(project(tmp_path, processes={"default_interval": None}))
    assert [line.split(": ")[1] for line in lines] == ["plain", "resting"]


def test_a_service_says_at_its_start_what_it_cannot_crawl(tmp_path: Path) -> None:
    (none,) = due_lines(Project.model_construct(sources={}, invalid_sources={}, adhoc_sources={}))
    assert "sources:" in none
    findings = [Finding("ultracrawl.yaml", 3, "sources.odd.depht", "unknown", "write depth")] * 2
    invalid = {"odd": InvalidSource(DataSource(name="odd"), tuple(findings))}
    line = due_lines(project(tmp_path).model_copy(update={"invalid_sources": invalid}))[-1]
    assert "odd: ultracrawl.yaml:3 - sources.odd.depht" in line


def test_converted_definitions_are_due_by_their_own_rules(tmp_path: Path) -> None:
    """A collection has an interval by its dialect; `serve` starts no robot, and `lint` does not complain."""
    tree = parse_yaml(yaml.safe_dump({"sources": {"robot": SOURCE}}), "robot.conf")
    loaded, mistakes = load_tree(tree, tmp_path)
    assert loaded.project is not None
    assert (all_plans(loaded.project), loaded.findings, mistakes) == ([], (), ())


def test_a_schedule_that_is_launched_by_hand_is_launched_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []

    class Recorder:
        def __init__(self, _project: Project, plans: Sequence[Plan], *_: object) -> None:
            launched.extend(plan.name for plan in plans)

        def run(self, _options: CrawlOptions, *, once: str) -> None:
            launched.append(once)

    monkeypatch.setattr("ultracrawl.service.supervisor.command._PlansCommand", Recorder)
    launch_schedule(project(tmp_path), "rests", CrawlOptions(), on_report=lambda _: None)
    assert launched == ["rests", "rests"]
