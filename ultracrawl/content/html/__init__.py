"""Parser for HTML pages: one parse and one walk over the tree."""
