"""Bodies of fetched documents with their headers, durable."""
