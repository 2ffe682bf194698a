"""Writes segments in the format of Whoosh several times as fast as its own writer.

`FastWriter` writes a segment of new documents (`add_document`, `commit`) or merges segments (`commit_merged`);
`segments_to_merge` is the merge policy.
"""

from ultracrawl.index.whoosh.writer.fast_writer import FastWriter
from ultracrawl.index.whoosh.writer.merging import MAX_MERGED_DOCUMENTS, segments_to_merge

__all__ = ["MAX_MERGED_DOCUMENTS", "FastWriter", "segments_to_merge"]
