"""The `storage` section of a source: whether and how fetched documents are stored."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import MediaTypes, Size


class StorageOptions(Section):
    """Storage of fetched documents, from which the index can be rebuilt without requests."""

    keep: bool = Field(default=False, examples=[True])
    """Store the bodies of indexed documents."""
    form: Literal["blocks", "files"] = Field(default="blocks", examples=["files"])
    """`blocks`: all documents in one file. `files`: each in a file of its own."""
    headers: bool = Field(default=True, examples=[False])
    """Store all response headers except cookies. If off, only Content-Type and X-Robots-Tag."""
    duplicates: bool = Field(default=False, examples=[True])
    """Store the bodies of duplicates too."""
    compress: bool = Field(default=True, examples=[False])
    """Compress bodies (zlib)."""
    compress_exclude: MediaTypes = Field(default=(), examples=[["image/jpeg", "video/*"]])
    """Media types whose bodies are not compressed, because they already are."""
    size: Size | None = Field(default=None, examples=["10 GB"])
    """Maximum stored size of all bodies. Further ones are not stored. None: no limit."""
    remove_sent: bool = Field(default=False, examples=[True])
    """Remove a body once all destinations have its document. It cannot be reindexed from the store then."""
    clusters: int = Field(default=1, ge=1, le=1024, examples=[8])
    """Number of files (`blocks`) or folders (`files`) of a new store. It cannot be changed later."""
    compact_below: int = Field(default=85, ge=0, le=100, examples=[70])
    """Percentage of a file in use (`blocks`) below which it is compacted at the end of a run. 0: never."""
    link_lists: Path | None = Field(default=None, examples=["var/links"])
    """Folder for lists of all links of pages, before any rule: one file per process, `PID.txt`."""
