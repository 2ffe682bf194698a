"""The `storage` section of a source: whether and how fetched documents are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import MediaTypes, Size


class StorageOptions(Section):
    """What is kept of the documents in the index, so that they can be made again without a request."""

    keep: bool = Field(default=False, examples=[True])
    """Keep the bodies of documents that are in the index."""
    form: Literal["blocks", "files"] = Field(default="blocks", examples=["files"])
    """All documents in one file, or each in a file of its own."""
    headers: bool = Field(default=True, examples=[False])
    """Keep all response headers but cookies; if not, Content-Type alone."""
    duplicates: bool = Field(default=False, examples=[True])
    """Keep the bodies of duplicates, too."""
    compress: bool = Field(default=True, examples=[False])
    """Compress bodies (zlib)."""
    compress_exclude: MediaTypes = Field(default=(), examples=[["image/jpeg", "video/*"]])
    """Media types whose bodies are kept as they came, because they are compressed already."""
    size: Size | None = Field(default=None, examples=["10 GB"])
    """Largest size of all bodies as they are kept; further ones are not kept. None: no bound."""
    remove_sent: bool = Field(default=False, examples=[True])
    """Remove a body as soon as all indexes have its document. It cannot be made again from the store."""
    clusters: int = Field(default=1, ge=1, le=1024, examples=[8])
    """Parts that a new store is divided into: files (`blocks`) or folders (`files`). Later it stays so."""
    compact_below: int = Field(default=85, ge=0, le=100, examples=[70])
    """Percent of a file in use (`blocks`) below which it is made smaller at the end of a run. 0: never."""
    link_lists: Path | None = Field(default=None, examples=["var/links"])
    """Folder for lists of all links of pages, before any rule: a file for each process, `PID.txt`."""
