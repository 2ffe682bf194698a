"""Decides which URL stands for a document: display URLs and duplicates."""
