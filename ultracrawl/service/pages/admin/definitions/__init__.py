"""Definitions: what a changed one would do, saving it, and who has changed what."""
