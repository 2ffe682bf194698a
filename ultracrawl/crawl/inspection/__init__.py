"""What a source would do next, worked out without a request: its queue, its sites, one URL."""
