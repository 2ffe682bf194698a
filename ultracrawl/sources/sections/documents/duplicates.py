"""The `duplicates` section of a source: which pages are one document, and what becomes of their URLs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.rules.duplicates.fingerprint import LARGEST_DISTANCE, SHINGLE
from ultracrawl.sources.header_rules import Expression
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Size


class DuplicatesSection(Section):
    """When pages of a source are duplicates of each other, and what is kept of them."""

    detect: bool = Field(default=True, examples=[False])
    """Index a document once, however many URLs of the source have it."""
    by: Literal["text", "body"] = Field(default="text", examples=["body"])
    """What is compared: title and visible text, or the bytes of the body."""
    meta: bool = Field(default=False, examples=[True])
    """Compare META values too: pages that differ only in these are no duplicates."""
    cut_off: Size | None = Field(default=None, examples=["64 KB"])
    """Bytes, from the first, that are compared. None: all."""
    near: bool = Field(default=False, examples=[True])
    """Take pages whose texts are nearly equal for duplicates, too."""
    near_distance: int = Field(default=LARGEST_DISTANCE, ge=0, le=LARGEST_DISTANCE, examples=[2])
    """Bits, of 64, in which the simhashes of nearly equal texts may differ."""
    near_words: int = Field(default=20, ge=SHINGLE, le=100_000, examples=[50])
    """Texts with fewer words are compared exactly."""
    canonical: bool = Field(default=True, examples=[False])
    """Let canonical links help to choose the URL that stands for all."""
    follow_links: bool = Field(default=True, examples=[False])
    """Follow the links of duplicates; they may differ where the texts are equal."""
    listed: int = Field(default=10, ge=0, le=1_000_000, examples=[100])
    """Duplicates of a document that are remembered, and can take its place."""
    always_listed: Expression | None = Field(default=None, examples=[r".*/index\.html"])
    """Expression (RE2) over whole URLs: such duplicates are remembered beyond `listed`."""
