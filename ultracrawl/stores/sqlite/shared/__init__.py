"""The SQLite stores that all sources of a project share: sites and schedules."""
