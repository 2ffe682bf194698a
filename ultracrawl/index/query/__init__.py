"""What a search asks for, and how it is answered: parser, query tree, conditions, scores, snippets."""
