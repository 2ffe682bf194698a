"""Launches schedules when they are due, and sources at their own interval; says what they do, and takes orders.

`ScheduleRunner` (the loop over a clock and a launcher), `Plan` and `plans_of` (what a project wants to be kept),
`keep_sources` (`crawl --continuous`), `steering` (orders from other processes), `looking` (what is known of schedules).
"""
