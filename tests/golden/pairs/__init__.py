"""The pairs, in modules by what they are about."""
