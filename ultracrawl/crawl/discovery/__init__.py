"""What sites publish about themselves: robots.txt, sitemaps and feeds, fetched and kept in step."""
