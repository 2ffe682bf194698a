"""A portal robot as a process that outlives its runs: control, facts, reports, schedule, descriptions."""
