"""Crawls on other machines through Scrapyd (the profiles of schedules)."""
