"""Options about what is fetched again, when, and what leads to it."""
