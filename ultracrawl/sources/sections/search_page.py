"""The `search_page` section of a project: the page on which people search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import AttributeName, one_or_list


class SearchPageSection(Section):
    """The search page of `ultracrawl serve`."""

    public: bool = Field(default=False, examples=[True])
    """Show the page without log-in. Its visitors find the documents of sources with `public` only."""
    title: Annotated[str, Field(max_length=100)] = Field(default="", examples=["Example Docs"])
    """The name of the page, which stands at its top."""
    filters: Annotated[tuple[AttributeName, ...], one_or_list(AttributeName)] = Field(
        default=(), max_length=10, examples=[["Product", "Mimetype"]]
    )
    """Search attributes that the page offers as filters. None: your own text attributes, type, year and language."""
    cached_copies: bool = Field(default=True, examples=[False])
    """Offer a copy of each document whose response is stored (`storage.keep`), unless its publisher forbids that."""
    statistics: bool = Field(default=True, examples=[False])
    """Count the queries of the page, of the API and of embedded boxes, without users and addresses."""
    statistics_days: Annotated[int, Field(ge=1, le=1000)] = Field(default=90, examples=[365])
    """For how many days these counts are stored."""
    check_answers: Path | None = Field(default=None, examples=["config/golden.yaml"])
    """A file of golden queries that `ultracrawl serve` checks after each crawl."""

    def resolve_paths(self, base: Path) -> Self:
        """Return the section with absolute paths; relative ones are relative to `base`."""
        path = self.check_answers
        return self.model_copy(update={"check_answers": base / path}) if path is not None else self
