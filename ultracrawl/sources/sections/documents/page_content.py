"""The `content` section of a source: which elements of pages are their text."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ultracrawl.model.page import SECTION_LEVELS
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.sections.scope.boundary import UriPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.selectors import CssSelector, CssSelectorOrNone
from ultracrawl.sources.values import as_list, one_or_list


def _switch(value: object) -> object:
    return "off" if value is False else value  # unquoted `off` is a boolean in YAML


class PageContent(Section):
    """Which elements of a page are its text."""

    include: CssSelector = Field(default="", examples=["#mw-content-text"])
    """CSS selector of the elements whose text is indexed, on pages that have any."""
    exclude: CssSelector = Field(default="", examples=[".share, .related-posts"])
    """CSS selector of elements that are not indexed. Links in them are still followed."""
    main: Annotated[
        Literal["auto", "article", "off"],
        BeforeValidator(_switch, json_schema_input_type=Literal["auto", "article", "off", False]),
    ] = Field(default="auto", examples=["article"])
    """`auto`: omit headers, footers and navigation of the site, unless `include` matches. `article`: omit also what
    trafilatura, an extractor of articles, leaves out; it needs the extra `article`. `off`: keep all.
    """
    levels: Annotated[tuple[CssSelectorOrNone, ...], BeforeValidator(as_list)] = Field(
        default=(), max_length=SECTION_LEVELS, examples=[[".docs h1", ".docs h2", ".docs .term"]]
    )
    """CSS selectors of the elements that start sections, one per level, the highest first; `''` for a level without
    elements. Empty: the headings and terms of HTML. Hits show the sections that match.
    """
    strip: Annotated[tuple[str, ...], one_or_list(str)] = Field(default=(), examples=[".,;:§"])
    """Characters that are removed at both ends of the titles of sections, besides signs of permalinks. As a list of
    several: those of each of `levels` and no others, then those of the other lines of text.
    """
    required: CssSelector = Field(default="", examples=[".docs"])
    """CSS selector of elements without which a page is not indexed. Its links are still followed."""

    @model_validator(mode="after")
    def _strips_each(self) -> Self:
        if len(self.strip) > 1 + len(self.levels):
            raise mistake("`strip` has more members than `levels` and one for texts", "remove some")
        return self


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

    @property
    def extracts_articles(self) -> bool:
        """Whether an extractor of articles is needed for any page."""
        return "article" in (self.main, *(rule.main for rule in self.pages))
