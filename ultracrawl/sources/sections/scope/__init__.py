"""Options about what belongs to a source."""
