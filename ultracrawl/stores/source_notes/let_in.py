"""The name of the note of a source that says what its log-ins let in, and what visitors get in place of it."""

LET_IN = "let-in"
"""Name of the note of a source; `run.auth.first_page` reads and writes it."""
