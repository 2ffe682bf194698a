"""Where documents of a source go: opening the ways to its indexes, pauses, and indexes that are new to it."""
