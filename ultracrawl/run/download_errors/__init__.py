"""Download errors: their outcome, and the retry policy."""
