"""One run of a source: how it begins and ends, what bounds it, what other processes order, adaptive cycles."""
