"""The options of a source about its documents: what is read, what becomes of it, where it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from ultracrawl.content.converters import GROUPS
from ultracrawl.sources.header_rules import HeaderExpressions
from ultracrawl.sources.sections.documents.conversion import ConversionSection
from ultracrawl.sources.sections.documents.duplicates import DuplicatesSection
from ultracrawl.sources.sections.documents.extract import ExtractRules
from ultracrawl.sources.sections.documents.feeding import FeedingSection
from ultracrawl.sources.sections.documents.relations import RelationsSection
from ultracrawl.sources.sections.documents.storage import StorageOptions
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection
from ultracrawl.sources.sections.scope.focused import FocusedSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Charset, Language, MediaTypes, Size


def _lower_keys(value: object) -> object:
    return {str(name).lower(): target for name, target in value.items()} if isinstance(value, dict) else value


class DocumentOptions(Section):
    """What `SourceOptions` has of options about documents; none of them is about fetching."""

    types: MediaTypes = Field(
        default=("text/html", "text/plain", "application/xhtml+xml", *GROUPS["documents"]),
        description="Media types that are indexed, or names of groups of them; documents of other types are dropped.",
        examples=[["text/html", "documents"]],
    )
    follow_only_types: MediaTypes = Field(
        default=(),
        description="Media types of documents that are read for their links, but not indexed.",
        examples=[["text/html"]],
    )
    detect_types: bool = Field(
        default=False,
        description="Go by the type that the bytes show, unless it is a generic one, and not by the declared type.",
        examples=[True],
    )
    cut_off: Size | None = Field(
        default=None,
        description="Bytes of a document that are read; what `truncate` says happens to longer ones. None: all.",
        examples=["2 MB"],
    )
    truncate: bool = Field(
        default=True,
        description="Read the beginning of documents longer than `cut_off`; if not, drop them.",
        examples=[False],
    )
    exclude_headers: HeaderExpressions = Field(
        default={},
        description="Response headers whose value drops the document: expressions for each, covering all of it.",
        examples=[{"Content-Language": ["(xx|zz)(-.*)?"]}],
    )
    conversion: ConversionSection = Field(
        default=ConversionSection(),
        description="How PDF, Office and other documents become text.",
        examples=[{"workers": 2, "timeout": 30}],
    )
    javascript: JavascriptSection = Field(
        default=JavascriptSection(),
        description="Which pages are opened in a browser, so that their scripts run.",
        examples=[{"use": True, "urls": ["https://www.example.com/app/"], "keep_html": True}],
    )
    focused: FocusedSection = Field(
        default=FocusedSection(),
        description="Which languages are kept, and how far links are followed through others.",
        examples=[{"languages": ["german", "unknown"], "depth": 1}],
    )
    duplicates: DuplicatesSection = Field(
        default=DuplicatesSection(),
        description="When pages are one document, and what becomes of their URLs.",
        examples=[{"by": "body"}],
    )
    relations: RelationsSection = Field(
        default=RelationsSection(),
        description="What documents in the index tell of other URLs that belong to them.",
        examples=[{"tell": ["duplicates", "redirects"]}],
    )
    storage: StorageOptions = Field(
        default=StorageOptions(),
        description="Whether and how fetched documents are kept.",
        examples=[{"keep": True}],
    )
    feeding: FeedingSection = Field(
        default=FeedingSection(),
        description="Which indexes get the documents, and whether they get them now.",
        examples=[{"paused": True}],
    )
    attributes: Annotated[Mapping[str, str], BeforeValidator(_lower_keys)] = Field(
        default={},
        description="Document attributes (META names in any case) and the search attribute of each.",
        examples=[{"author": "Author", "dc.creator": "Author"}],
    )
    extract: ExtractRules = Field(
        default={},
        description="Document attributes made by rules: constants, templates, expressions, CSS selectors, XPath.",
        examples=[{"Department": "=Sales", "sku": {"css": ".sku"}}],
    )
    description_fallback: bool = Field(
        default=False,
        description="Take the description from the text of pages that have none of their own.",
        examples=[True],
    )
    parameter_file: str | None = Field(
        default=None,
        description="A `crawler.dat` of Ultra Search: `USE_DESC_FALLBACK` before its IMPORT is `description_fallback`.",
        examples=["crawler.dat"],
    )
    detect_language: bool = Field(
        default=False,
        description="Tell the language of documents that name none by their text (needs the extra `language`).",
        examples=[True],
    )
    default_language: Language = Field(
        default="en",
        description="Language of documents that name none, and whose text does not tell it.",
        examples=["en"],
    )
    default_charset: Charset = Field(
        default="iso-8859-1",
        description="Character set of documents that declare none.",
        examples=["iso-8859-1"],
    )
