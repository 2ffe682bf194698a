"""The `duplicates` section of a source: how duplicates are detected, and what is kept of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.rules.duplicates.fingerprint import MAX_DISTANCE, SHINGLE
from ultracrawl.sources.header_rules import Expression
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Size


class DuplicatesSection(Section):
    """How duplicate pages of a source are detected, and what is kept of them."""

    detect: bool | None = Field(default=None, examples=[False])
    """Index a document once, no matter how many URLs of the source have it.

    None: true, except for documents that a key identifies, such as rows of tables.
    """
    by: Literal["text", "body"] = Field(default="text", examples=["body"])
    """What is compared: title and visible text, or the bytes of the body."""
    meta: bool = Field(default=False, examples=[True])
    """Compare META values too: pages that differ in them are not duplicates."""
    cut_off: Size | None = Field(default=None, examples=["64 KB"])
    """Number of leading bytes to compare. None: all."""
    near: bool = Field(default=False, examples=[True])
    """Treat pages with nearly equal texts as duplicates too."""
    near_distance: int = Field(default=MAX_DISTANCE, ge=0, le=MAX_DISTANCE, examples=[2])
    """Bits (of 64) in which the simhashes of nearly equal texts may differ."""
    near_words: int = Field(default=20, ge=SHINGLE, le=100_000, examples=[50])
    """Texts with fewer words are compared exactly."""
    canonical: bool = Field(default=True, examples=[False])
    """Use canonical links to choose the URL that represents the duplicates."""
    follow_links: bool = Field(default=True, examples=[False])
    """Follow the links of duplicates, which may differ even if the texts are equal."""
    listed: int = Field(default=10, ge=0, le=1_000_000, examples=[100])
    """Maximum number of duplicates remembered per document; they can replace it."""
    always_listed: Expression | None = Field(default=None, examples=[r".*/index\.html"])
    """Expression (RE2) matching whole URLs: such duplicates are remembered in addition to `listed`."""
