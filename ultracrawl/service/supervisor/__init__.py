"""Crawls in processes of their own: started, watched, begun again when they die, and ended together."""
