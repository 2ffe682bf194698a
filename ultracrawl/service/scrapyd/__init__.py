"""Crawls on other machines through Scrapyd (the profiles of schedules), and the `scrapy crawl` that it runs."""
