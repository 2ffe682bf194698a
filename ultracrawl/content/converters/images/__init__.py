"""What images say about themselves; pixels are not read."""
