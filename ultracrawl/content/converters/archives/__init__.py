"""Archives: the files in them as one document."""
