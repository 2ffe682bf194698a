"""Options about how answers are fetched."""
