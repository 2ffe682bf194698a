"""Documents of office programs, old and new."""
