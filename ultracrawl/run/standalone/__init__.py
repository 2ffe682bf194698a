"""Components that work without a definition: in a plain Scrapy project, configured by settings."""
