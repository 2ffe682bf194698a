"""What components need that work alone: in a plain Scrapy project, by settings, without a definition of the source."""
