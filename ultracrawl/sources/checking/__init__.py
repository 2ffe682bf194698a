"""What types alone cannot say about a definition."""
