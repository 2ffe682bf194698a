"""Options about what becomes of an answer: documents, their attributes and their indexes."""
