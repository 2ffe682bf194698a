"""Discovery from what sites publish about themselves: robots.txt, sitemaps and feeds."""
