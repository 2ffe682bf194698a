"""What the sources of a project share, once for all engines with SQL: sites and schedules."""
