"""Writes segments of Whoosh several times as fast as its own writer, in its own format.

`FastWriter` makes a segment of new documents (`add_document`, `commit`) or of others (`commit_merged`);
`segments_to_merge` says which ones are to be joined next.
"""

from ultracrawl.index.whoosh.writer.fast_writer import FastWriter
from ultracrawl.index.whoosh.writer.merging import LARGEST_MERGED, segments_to_merge

__all__ = ["LARGEST_MERGED", "FastWriter", "segments_to_merge"]
