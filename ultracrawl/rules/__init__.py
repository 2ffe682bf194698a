"""The rules: pure, synchronous, no Scrapy, no I/O; an answer carries its reason."""
