"""Schedules: their start times, run windows and states.

`IntervalTimes` and `CalendarTimes` (start times), `Step` (every second week, every third month),
`RunWindow` (when crawls may run), `ScheduleEvent` and `next_status` (the state machine).
"""
