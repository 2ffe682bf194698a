"""A plain Scrapy project whose spider is incremental."""
