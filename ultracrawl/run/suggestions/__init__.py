"""What the stored state of a source suggests for its definition."""
