"""The `relations` section of a source: what a document in the index tells of other URLs that belong to it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import as_list

Kind = Literal["duplicates", "redirects", "mirrors", "metadata"]

RELATION_ATTRIBUTES = {
    "duplicates": "Duplicates",
    "redirects": "Redirects",
    "mirrors": "Mirrors",
    "metadata": "Metadata",
    "links": "Links",
    "referrers": "Referrers",
}
"""The search attributes, all strings with several values, by what they hold."""


class RelationsSection(Section):
    """Search attributes that hold URLs around a document; they are kept true when these change later."""

    tell: Annotated[tuple[Kind, ...], BeforeValidator(as_list, json_schema_input_type=str | list[Kind])] = (
        Field(default=(), examples=[["duplicates", "redirects"]])
    )
    """What is told: URLs of the same content (`Duplicates`), that redirect here (`Redirects`), on mirror hosts
    (`Mirrors`), and META values, headers and sitemap values (`Metadata`).
    """
    listed: int = Field(default=10, ge=0, le=10_000, examples=[5])
    """Most duplicates, and most redirects, that are told. `duplicates.always_listed` come on top."""
    links: bool = Field(default=False, examples=[True])
    """Tell all links of a page (`Links`), as absolute URLs in their order."""
    referrers: int = Field(default=0, ge=0, le=10_000, examples=[10])
    """Most pages with a link to it that are told (`Referrers`); 0: none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds of what is told; empty if nothing is."""
        further = [name for name in ("links", "referrers") if getattr(self, name)]
        return (*dict.fromkeys(self.tell), *further)
