"""What documents in the index tell of other URLs: duplicates, redirects, mirrors, links, referring pages (FAST 5.8)."""
