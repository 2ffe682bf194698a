"""Options for recrawling: cycles, feeds, sitemaps, orphans."""
