"""Portal robots as long-running processes: control, configuration, reports, schedule, descriptions."""
