"""A plug-in of each kind."""
