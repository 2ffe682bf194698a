"""Pages of news and blogs: which of their text is the article."""
