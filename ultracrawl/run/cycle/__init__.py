"""Begin and end of the run of one source, and its handle: above the features, whose work they put in order."""
