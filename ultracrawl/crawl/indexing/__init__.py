"""Where documents of a source go: the feed, its ways to the indexes, pauses, and indexes that are new to it."""
