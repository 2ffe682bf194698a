"""Lists of related URLs in documents: duplicates, redirects, mirrors, links, referring pages (FAST 5.8)."""
