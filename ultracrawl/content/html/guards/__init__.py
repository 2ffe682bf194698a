"""What the parser must not be given, since it would take quadratic time: attributes, open formatting, depth."""
