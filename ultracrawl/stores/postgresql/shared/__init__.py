"""The stores in PostgreSQL that all sources of a project share: sites and schedules."""
