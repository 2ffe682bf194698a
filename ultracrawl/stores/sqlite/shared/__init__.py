"""The store that all sources of a project share, on SQLite: clocks and leases of sites, answers for robots.txt."""
