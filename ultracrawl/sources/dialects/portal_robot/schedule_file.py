"""`schedule.conf`: when a robot is started and stopped. The portal's console kept it in a place of its own."""

from __future__ import annotations

from ultracrawl.rules.recrawl.timetable import Action, Appointment, ScheduleError, parse_days, parse_time
from ultracrawl.sources.dialects.portal_robot.lexer import ConfigText, Directive, read_text

SCHEDULE_FILE = "schedule.conf"
_WORDS = {"start": Action.START, "stop": Action.STOP}


def read_schedule(text: str, file: str = SCHEDULE_FILE) -> tuple[list[Appointment], ConfigText]:
    """Read lines `Start time="10:00 pm" days=Sun,Mon` and `Stop ...`; what is wrong is in the findings of the text."""
    read = read_text(text, file, ("Start", "Stop"))
    for block in read.blocks:
        read.add_finding(
            block.line,
            block.kind,
            "there are no blocks in this file",
            "write lines `Start time=... days=...`",
        )
    found = [_appointment(one, read) for one in read.directives]
    return [one for one in found if one is not None], read


def _appointment(one: Directive, read: ConfigText) -> Appointment | None:
    action = _WORDS.get(one.word.lower())
    if action is None:
        read.add_finding(
            one.line, one.word or "line", "neither Start nor Stop", "write `Start time=... days=...`"
        )
        return None
    for pair in one.parameters:
        if pair.name not in ("time", "days"):
            read.add_finding(
                pair.line, pair.name, f"{one.word} takes no `{pair.name}`", "it takes time and days"
            )
    try:
        hour, minute = parse_time(one.get("time") or "")
        return Appointment(action, hour, minute, parse_days(one.get("days") or ""))
    except ScheduleError as error:
        read.add_finding(one.line, one.word, error.problem, error.instead)
        return None


def schedule_line(one: Appointment) -> str:
    """Return an appointment as a line of the file."""
    time, _, days = str(one).rpartition(" ")
    return f'{one.action.value.capitalize()} time="{time}" days={days}\n'
