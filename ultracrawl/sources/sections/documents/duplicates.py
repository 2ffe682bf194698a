"""The `duplicates` section of a source: which pages are one document, and what becomes of their URLs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.rules.duplicates.simhash import LARGEST_DISTANCE, SHINGLE
from ultracrawl.sources.header_rules import Expression
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Size


class DuplicatesSection(Section):
    """When pages of a source are duplicates of each other, and what is kept of them."""

    detect: bool = Field(
        default=True,
        description="Index a document once, however many URLs of the source have it.",
        examples=[False],
    )
    by: Literal["text", "body"] = Field(
        default="text",
        description="What is compared: title and visible text, or the bytes of the body.",
        examples=["body"],
    )
    meta: bool = Field(
        default=False,
        description="Compare META values too: pages that differ only in these are no duplicates.",
        examples=[True],
    )
    cut_off: Size | None = Field(
        default=None,
        description="Bytes, from the first, that are compared. None: all.",
        examples=["64 KB"],
    )
    near: bool = Field(
        default=False,
        description="Take pages whose texts are nearly equal for duplicates, too.",
        examples=[True],
    )
    near_distance: int = Field(
        default=LARGEST_DISTANCE,
        ge=0,
        le=LARGEST_DISTANCE,
        description="Bits, of 64, in which the simhashes of nearly equal texts may differ.",
        examples=[2],
    )
    near_words: int = Field(
        default=20,
        ge=SHINGLE,
        le=100_000,
        description="Texts with fewer words are compared exactly.",
        examples=[50],
    )
    canonical: bool = Field(
        default=True,
        description="Let canonical links help to choose the URL that stands for all.",
        examples=[False],
    )
    follow_links: bool = Field(
        default=True,
        description="Follow the links of duplicates; they may differ where the texts are equal.",
        examples=[False],
    )
    listed: int = Field(
        default=10,
        ge=0,
        le=1_000_000,
        description="Duplicates of a document that are remembered, and can take its place.",
        examples=[100],
    )
    always_listed: Expression | None = Field(
        default=None,
        description="Expression (RE2) over whole URLs: such duplicates are remembered beyond `listed`.",
        examples=[r".*/index\.html"],
    )
