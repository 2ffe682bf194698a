"""The `content` section of a source: what of a page is its text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ultracrawl.sources.sections.documents.extract import CssSelector
from ultracrawl.sources.sections.scope.boundary import UriPatterns
from ultracrawl.sources.sections.section import Section


def _switch(value: object) -> object:
    return "off" if value is False else value  # `off` without quotation marks is a truth value in YAML


class PageContent(Section):
    """What of a page is its text."""

    include: CssSelector = Field(default="", examples=["#mw-content-text"])
    """CSS selector: the text is that of these elements, on pages that have any."""
    exclude: CssSelector = Field(default="", examples=[".share, .related-posts"])
    """CSS selector: these elements are no part of the text. Links in them are followed all the same."""
    main: Annotated[
        Literal["auto", "off"], BeforeValidator(_switch, json_schema_input_type=Literal["auto", "off", False])
    ] = Field(default="auto", examples=["off"])
    """`auto`: headers, footers and navigation of the site are left out, unless `include` finds something. `off`: they
    stay."""


class ContentOfPages(PageContent):
    """What is the text of some pages."""

    urls: UriPatterns = Field(min_length=1, examples=[["https://wiki.example.com/"]])
    """The pages whose URL one of these rules covers."""


class ContentSection(PageContent):
    """What of pages is their text."""

    pages: tuple[ContentOfPages, ...] = Field(
        default=(), examples=[[{"urls": ["https://wiki.example.com/"], "include": "#mw-content-text"}]]
    )
    """Other rules for some pages, in place of those of the section; the first that covers the URL counts."""
