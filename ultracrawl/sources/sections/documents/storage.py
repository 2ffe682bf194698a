"""The `storage` section of a source: whether and how fetched documents are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import MediaTypes, Size


class StorageOptions(Section):
    """What is kept of the documents in the index, so that they can be made again without a request."""

    keep: bool = Field(
        default=False,
        description="Keep the bodies of documents that are in the index.",
        examples=[True],
    )
    form: Literal["blocks", "files"] = Field(
        default="blocks",
        description="All documents in one file, or each in a file of its own.",
        examples=["files"],
    )
    headers: bool = Field(
        default=True,
        description="Keep all response headers but cookies; if not, Content-Type alone.",
        examples=[False],
    )
    duplicates: bool = Field(
        default=False,
        description="Keep the bodies of duplicates, too.",
        examples=[True],
    )
    compress: bool = Field(default=True, description="Compress bodies (zlib).", examples=[False])
    compress_exclude: MediaTypes = Field(
        default=(),
        description="Media types whose bodies are kept as they came, because they are compressed already.",
        examples=[["image/jpeg", "video/*"]],
    )
    size: Size | None = Field(
        default=None,
        description="Largest size of all bodies as they are kept; further ones are not kept. None: no bound.",
        examples=["10 GB"],
    )
    remove_sent: bool = Field(
        default=False,
        description="Remove a body as soon as all indexes have its document. It cannot be made again from the store.",
        examples=[True],
    )
    clusters: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="Parts that a new store is divided into: files (`blocks`) or folders (`files`). Later it stays so.",
        examples=[8],
    )
    compact_below: int = Field(
        default=85,
        ge=0,
        le=100,
        description="Percent of a file in use (`blocks`) below which it is made smaller at the end of a run. 0: never.",
        examples=[70],
    )
    link_lists: Path | None = Field(
        default=None,
        description="Folder for lists of all links of pages, before any rule: a file for each process, `PID.txt`.",
        examples=["var/links"],
    )
