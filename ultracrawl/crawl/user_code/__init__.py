"""Classes of the user: loaded by their dotted paths, opened and closed."""
