"""What is shown of a document that was found: the part that answers, and a snippet of it."""
