"""Classes of the person who wrote the definition: loaded by their dotted paths, opened and closed."""
