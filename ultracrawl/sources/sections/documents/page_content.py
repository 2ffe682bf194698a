"""The `content` section of a source: which elements of pages are their text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ultracrawl.sources.sections.scope.boundary import UriPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.selectors import CssSelector
from ultracrawl.sources.values import as_list


def _switch(value: object) -> object:
    return "off" if value is False else value  # unquoted `off` is a boolean in YAML


class PageContent(Section):
    """Which elements of a page are its text."""

    include: CssSelector = Field(default="", examples=["#mw-content-text"])
    """CSS selector of the elements whose text is indexed, on pages that have any."""
    exclude: CssSelector = Field(default="", examples=[".share, .related-posts"])
    """CSS selector of elements that are not indexed. Links in them are still followed."""
    main: Annotated[
        Literal["auto", "off"], BeforeValidator(_switch, json_schema_input_type=Literal["auto", "off", False])
    ] = Field(default="auto", examples=["off"])
    """`auto`: omit headers, footers and navigation of the site, unless `include` matches. `off`: keep them."""
    levels: Annotated[tuple[CssSelector, ...], BeforeValidator(as_list)] = Field(
        default=(), max_length=7, examples=[[".docs h1", ".docs h2", ".docs .term"]]
    )
    """CSS selectors of the elements that start sections, one per level, the highest first. Empty: the headings and
    terms of HTML. Hits show the sections that match.
    """
    strip: str = Field(default="", examples=[".,;:§"])
    """Characters that are removed at both ends of the titles of sections, besides signs of permalinks."""
    required: CssSelector = Field(default="", examples=[".docs"])
    """CSS selector of elements without which a page is not indexed. Its links are still followed."""


class ContentOfPages(PageContent):
    """Which elements of some pages are their text."""

    urls: UriPatterns = Field(min_length=1, examples=[["https://wiki.example.com/"]])
    """The pages whose URL matches one of these rules."""


class ContentSection(PageContent):
    """Which elements of pages are their text."""

    pages: tuple[ContentOfPages, ...] = Field(
        default=(), examples=[[{"urls": ["https://wiki.example.com/"], "include": "#mw-content-text"}]]
    )
    """Rules for some pages that replace those of the section. The first one that matches the URL applies."""
