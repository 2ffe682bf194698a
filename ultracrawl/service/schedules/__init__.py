"""Launches schedules when they are due, and sources at their own intervals.

`runner` has the loop over a clock and a launcher, `plans` the schedules and intervals of a project, `continuous` is
`crawl --continuous` in one process, `steering` passes orders between processes, `schedule_status` reads the states.
"""
