"""The coming day by schedules and intervals."""
