"""The decision rules of the crawler: pure and synchronous, without Scrapy and I/O; decisions carry their reason."""
