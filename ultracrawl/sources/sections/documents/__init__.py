"""Options for processing responses: documents, their attributes and destinations."""
