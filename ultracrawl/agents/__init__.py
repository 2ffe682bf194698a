"""Kinds of sources that are listed and fetched, one folder each; `port` says what a kind brings."""
