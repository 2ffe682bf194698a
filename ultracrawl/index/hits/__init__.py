"""Ranks the best matches and builds hits: matched words, the best section, the snippet, JSON."""
