"""Options for fetching: access, politeness, priorities, errors, robots.txt."""
