"""Answers of servers that are kept, on SQLite: behind documents of sources, and of spiders without a definition."""
