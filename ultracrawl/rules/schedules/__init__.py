"""When schedules launch their sources, and what a schedule is doing; pure rules.

`IntervalTimes` and `CalendarTimes` (the times of a schedule), `Step` (every second week, every third month),
`RunWindow` (when crawls may run), `ScheduleEvent` and `next_status` (what a schedule does, and what can happen to it).
"""
