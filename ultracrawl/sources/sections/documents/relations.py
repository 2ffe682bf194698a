"""The `relations` section of a source: search attributes with related URLs of a document."""

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
"""The search attribute of each kind, all strings with several values."""


class RelationsSection(Section):
    """Search attributes with related URLs of a document. They are updated when these change later."""

    tell: Annotated[tuple[Kind, ...], BeforeValidator(as_list, json_schema_input_type=str | list[Kind])] = (
        Field(default=(), examples=[["duplicates", "redirects"]])
    )
    """The attributes to fill: URLs with the same content (`Duplicates`), that redirect here (`Redirects`), on mirror
    hosts (`Mirrors`), and META values, headers and sitemap values (`Metadata`).
    """
    listed: int = Field(default=10, ge=0, le=10_000, examples=[5])
    """Maximum number of duplicates, and of redirects. `duplicates.always_listed` are added to them."""
    links: bool = Field(default=False, examples=[True])
    """Fill `Links` with all links of a page, as absolute URLs in order."""
    referrers: int = Field(default=0, ge=0, le=10_000, examples=[10])
    """Maximum number of pages with a link to the document in `Referrers`; 0: none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds of attributes that are filled."""
        further = [name for name in ("links", "referrers") if getattr(self, name)]
        return (*dict.fromkeys(self.tell), *further)
