"""User classes of a source: loading, opening and closing them."""
