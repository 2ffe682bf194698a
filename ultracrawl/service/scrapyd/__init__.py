"""Crawls on other machines, which a Scrapyd there begins: the profiles of schedules."""
