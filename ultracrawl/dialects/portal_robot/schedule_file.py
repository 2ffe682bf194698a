"""Reads and writes `schedule.conf`: when a robot is started and stopped. The portal's console kept it elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ultracrawl.dialects.portal_robot.timetable import (
    Action,
    Appointment,
    ScheduleError,
    parse_days,
    parse_time,
)
from ultracrawl.sources.filter_files.lexer import ConfigText, Directive, read_text

SCHEDULE_FILE = "schedule.conf"
Times = Sequence[Appointment]
_WORDS = {"start": Action.START, "stop": Action.STOP}


def read_schedule(text: str, file: str = SCHEDULE_FILE) -> tuple[list[Appointment], ConfigText]:
    """Read lines `Start time="10:00 pm" days=Sun,Mon` and `Stop ...`; mistakes are in the findings of the text."""
    read = read_text(text, file, ("Start", "Stop"))
    for block in read.blocks:
        read.add_finding(
            block.line,
            block.kind,
            "there are no blocks in this file",
            "write lines `Start time=... days=...`",
        )
    appointments = [_appointment(directive, read) for directive in read.directives]
    return [appointment for appointment in appointments if appointment is not None], read


def _appointment(directive: Directive, read: ConfigText) -> Appointment | None:
    action = _WORDS.get(directive.word.lower())
    if action is None:
        read.add_finding(
            directive.line,
            directive.word or "line",
            "neither Start nor Stop",
            "write `Start time=... days=...`",
        )
        return None
    for pair in directive.parameters:
        if pair.name not in ("time", "days"):
            read.add_finding(
                pair.line, pair.name, f"{directive.word} takes no `{pair.name}`", "it takes time and days"
            )
    try:
        hour, minute = parse_time(directive.get("time") or "")
        return Appointment(action, hour, minute, parse_days(directive.get("days") or ""))
    except ScheduleError as error:
        read.add_finding(directive.line, directive.word, error.problem, error.instead)
        return None


def schedule_options(appointments: Times, sources: Iterable[str], *, loops: bool) -> dict[str, Any]:
    """Return the options of the schedule of a robot, empty if its times start nothing.

    A robot that `loops` begins the next run at once, until its stop time.
    """
    cron = {action: [one.cron for one in appointments if one.action is action] for action in Action}
    if not cron[Action.START]:
        return {}
    return {
        "sources": [*sources],
        "cron": cron[Action.START],
        "stop": cron[Action.STOP],
        "timezone": "local",
        "missed": "skip",
        "repeat": loops,
    }


def schedule_line(appointment: Appointment) -> str:
    """Return the line for an appointment."""
    time, _, days = str(appointment).rpartition(" ")
    return f'{appointment.action.value.capitalize()} time="{time}" days={days}\n'
