"""Start and stop times of a robot."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from support.sentences import sentence

from ultracrawl.dialects.portal_robot.schedule_file import read_schedule, schedule_line
from ultracrawl.dialects.portal_robot.service.control import RobotState
from ultracrawl.dialects.portal_robot.service.schedule import keep_schedule
from ultracrawl.dialects.portal_robot.timetable import (
    Action,
    Appointment,
    ScheduleError,
    next_appointment,
    parse_days,
    parse_time,
)
from ultracrawl.errors import WorkError

SUNDAY = datetime(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:00 am", (0, 0)),
        ("12:00 pm", (12, 0)),
        ("1:05 PM", (13, 5)),
        ("11:59pm", (23, 59)),
        ("01:00 am", (1, 0)),
    ],
)
def test_times(text: str, expected: tuple[int, int]) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize("text", ["", "13:00 pm", "0:30 am", "10:60 am", "10 pm", "22:00", "10:00 xm"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ScheduleError, match=sentence("robot.no_time_write_as")):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "no day is given"), (" , ", "no day is given"), ("Sun,Funday", "`Funday` is no day")],
)
def test_portal_robot_140_a_start_needs_a_time_and_a_day(text: str, problem: str) -> None:
    with pytest.raises(ScheduleError, match=problem):
        parse_days(text)
    for line in (f'Start time="10:00 am" days="{text}"', "Start days=Sun", 'Start time="10:00 am"'):
        times, read = read_schedule(line)
        assert (times, [one.line for one in read.findings if one.fatal]) == ([], [1])


def test_portal_robot_141_several_start_and_stop_times() -> None:
    text = (
        '# nights\nStart time="10:00 pm" days=Fri,Sat\nStop time="6:00 am" days=Sun,Sat\n'
        'Start time="12:00 pm" days=Wed\nStop time="1:00 pm" days=Wed\n'
    )
    times, read = read_schedule(text)
    assert not read.findings
    assert "# nights\n" + "".join(map(schedule_line, times)) == text
    moment, seen = SUNDAY - timedelta(hours=1), []  # on Saturday, 11 pm
    for _ in range(7):
        following = next_appointment(times, moment)
        assert following is not None
        moment, one = following
        seen.append(f"{one.action} {moment:%a %H:%M}")
    assert seen == [
        "stop Sun 06:00",
        "start Wed 12:00",
        "stop Wed 13:00",
        "start Fri 22:00",
        "stop Sat 06:00",
        "start Sat 22:00",
        "stop Sun 06:00",
    ]


def test_at_the_same_time_the_stop_comes_first() -> None:
    day = frozenset({"Sun"})
    times = [Appointment(Action.START, 9, 0, day), Appointment(Action.STOP, 9, 0, day)]
    following = next_appointment(times, SUNDAY)
    assert following is not None
    assert following[1].action is Action.STOP


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('Begin time="1:00 am" days=Sun', 1),
        ('\nStart time="1:00 am" days=Sun hours=3', 2),
        ("<Filter name=x>\n</Filter>", 1),
    ],
    ids=["word", "parameter", "block"],
)
def test_what_is_wrong_in_a_schedule_has_a_line(text: str, line: int) -> None:
    assert [one.line for one in read_schedule(text)[1].findings if one.fatal] == [line]


class World:
    """A robot and a clock; `act` starts and stops, and time passes only in sleep."""

    def __init__(self, times: list[Appointment], *, fails: bool = False) -> None:
        self.now, self.end = SUNDAY, SUNDAY + timedelta(days=7)
        self.state, self.times, self.fails = RobotState.OFF, times, fails
        self.after_start = RobotState.RUNNING
        self.acts: list[str] = []
        self.said: list[str] = []

    def schedule(self) -> list[Appointment]:
        return self.times if self.now < self.end else []

    def act(self, action: Action) -> None:
        self.acts.append(f"{action} {self.now:%a %H:%M}")
        if self.fails:
            raise WorkError("Starting Points: 0 defined")
        self.state = self.after_start if action is Action.START else RobotState.OFF

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=max(seconds, 1))

    def live(self) -> None:
        keep_schedule(
            self.schedule, lambda: self.state, self.act, self.said.append, lambda: self.now, self.sleep
        )


def times(text: str) -> list[Appointment]:
    return read_schedule(text)[0]


NIGHT = times('Start time="10:00 pm" days=Mon\nStop time="6:00 am" days=Tue')


def test_portal_robot_142_a_scheduled_stop_stops_the_robot() -> None:
    world = World(NIGHT)
    world.live()
    assert world.acts == ["start Mon 22:00", "stop Tue 06:00"]
    assert world.state is RobotState.OFF


def test_a_start_while_running_and_a_stop_while_off_are_ignored() -> None:
    world = World(times('Start time="1:00 am" days=Mon,Tue\nStop time="2:00 am" days=Wed,Thu'))
    world.live()
    assert world.acts == ["start Mon 01:00", "stop Wed 02:00"]
    assert world.said.count(sentence("robot.start_while_running")) == 1
    assert world.said.count(sentence("robot.stop_while_off")) == 1


def test_a_start_begins_a_run_of_a_robot_that_waits_in_its_process() -> None:
    world = World(times('Start time="1:00 am" days=Mon,Tue\nStop time="2:00 am" days=Wed'))
    world.after_start = RobotState.IDLE
    world.live()
    assert world.acts == ["start Mon 01:00", "start Tue 01:00", "stop Wed 02:00"]


def test_a_start_that_fails_is_reported_and_tried_again_at_the_next_time() -> None:
    world = World(times('Start time="1:00 am" days=Mon,Tue'), fails=True)
    world.live()
    assert world.acts == ["start Mon 01:00", "start Tue 01:00"]
    assert world.said == ["start failed: Starting Points: 0 defined"] * 2


def test_times_that_were_missed_are_not_made_up() -> None:
    world = World(NIGHT)

    def suspended(seconds: float) -> None:
        world.now += timedelta(seconds=max(seconds, 1))
        if f"{world.now:%a %H}" == "Mon 21":
            world.now += timedelta(hours=5)

    world.sleep = suspended  # type: ignore[method-assign]
    world.live()
    assert world.acts == []
