"""A portal robot as a YAML definition is the same source."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from ultracrawl.sources import Project, definition_text, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.schedules import ScheduleSection

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"
ROBOT = """<Process csid="x-catalog://h:80/docs" depth=4 server-delay=2 email=me@siroe.com user-agent=iPlanetRobot/4.0
   connect-timeout=30 max-filesize-kb=512 loglevel=3 onCompletion=loop cmd-hook="mail 'to me'" referer=http://r/
   username=jack password=boots auto-proxy=http://proxy:3128/ proxy-type=manual max-classifications=3 enable-ip=off
   enumeration-filter=enumeration-default generation-filter=generation-default index-after-ngenerated=5
</Process>
"""
SITE = """
<Site name=a.example>
   Host  name=a.example port=8080
   Start url=https://a.example/ depth=1
   Use   rule=archive-files
</Site>
"""


TIMES = """Start time="10:30 pm" days=Fri,Sat
Start time="12:00 pm" days=Wed
Stop time="6:00 am" days=Sun,Sat
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    config = tmp_path / "config"
    config.mkdir()
    for name in ("filter.conf", "filterrules.conf", "mime.types"):
        (config / name).write_text((DEFAULTS / name).read_text())
    with (config / "filterrules.conf").open("a") as rules:
        rules.write(SITE)
    (config / "classification.conf").write_text('Classify source=path by=contains string=/x category="A:B"\n')
    (config / "robot.conf").write_text(ROBOT)
    return config / "robot.conf"


def project_of(file: Path) -> Project:
    return require(read_definitions(file))


@pytest.mark.parametrize("times", [None, TIMES])
def test_a_robot_is_the_same_source_in_yaml(robot: Path, tmp_path: Path, times: str | None) -> None:
    if times is not None:
        robot.with_name("schedule.conf").write_text(times)
    definition = tmp_path / "ultracrawl.yaml"
    definition.write_text(definition_text(project_of(robot), tmp_path))
    converted, made = project_of(definition), project_of(robot)
    assert [one.model_dump() for one in converted.sources.values()] == [
        one.model_dump() for one in made.sources.values()
    ]
    assert converted.schedules == made.schedules


def test_the_times_of_a_robot_are_a_schedule(robot: Path) -> None:
    robot.with_name("schedule.conf").write_text(TIMES)
    project = project_of(robot)
    assert project.schedules == {
        "docs": ScheduleSection(
            sources=("docs",),
            cron=("30 22 * * Fri,Sat", "0 12 * * Wed"),
            stop=("0 6 * * Sun,Sat",),
            timezone="local",
            missed="skip",
            repeat=True,
        )
    }
    assert project.sources["docs"].refresh.when_idle is False


@pytest.mark.parametrize(
    ("then", "times", "repeats", "when_idle"),
    [
        ("loop", TIMES, True, False),
        ("idle", TIMES, False, False),
        ("quit", TIMES, False, False),
        ("loop", 'Stop time="6:00 am" days=Sun\n', None, True),
        ("loop", None, None, True),
        ("idle", None, None, False),
        ("quit", None, None, False),
    ],
)
def test_what_follows_a_run_is_an_interval(
    robot: Path, then: str, times: str | None, repeats: bool | None, when_idle: bool
) -> None:
    robot.write_text(ROBOT.replace("onCompletion=loop", f"onCompletion={then}"))
    if times is not None:
        robot.with_name("schedule.conf").write_text(times)
    project = project_of(robot)
    assert [one.repeat for one in project.schedules.values()] == ([] if repeats is None else [repeats])
    assert project.sources["docs"].refresh.when_idle is when_idle


def test_a_mistake_in_the_times_is_one_of_the_robot(robot: Path) -> None:
    robot.with_name("schedule.conf").write_text("# nights\nStart days=Sun\n")
    (found,) = read_definitions(robot).fatal
    assert (Path(found.file).name, found.line) == ("schedule.conf", 2)
