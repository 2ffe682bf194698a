"""HTML pages: from bytes to a `Page`, with one parse and one walk."""
