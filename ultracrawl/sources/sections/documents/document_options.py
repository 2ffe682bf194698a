"""The options of a source about its documents: what is read, what becomes of it, where it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from ultracrawl.content.converters.registry import GROUPS
from ultracrawl.sources.header_rules import HeaderExpressions
from ultracrawl.sources.sections.documents.content import ContentSection
from ultracrawl.sources.sections.documents.conversion import ConversionSection
from ultracrawl.sources.sections.documents.destinations import FeedingSection
from ultracrawl.sources.sections.documents.duplicates import DuplicatesSection
from ultracrawl.sources.sections.documents.extract import ExtractRules
from ultracrawl.sources.sections.documents.languages import LanguagesSection
from ultracrawl.sources.sections.documents.relations import RelationsSection
from ultracrawl.sources.sections.documents.storage import StorageOptions
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection
from ultracrawl.sources.sections.scope.focused import FocusedSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Charset, Language, MediaTypes, PrincipalNames, Size, lower_keys


class DocumentOptions(Section):
    """What `SourceOptions` has of options about documents; none of them is about fetching."""

    FETCH_OPTIONS: ClassVar = frozenset({"feeding", "storage", "parameter_file"})
    ADDED_OPTIONS: ClassVar = frozenset({"acl", "content", "languages"})

    types: MediaTypes = Field(
        default=("text/html", "text/plain", "application/xhtml+xml", *GROUPS["documents"]),
        examples=[["text/html", "documents"]],
    )
    """Media types that are indexed, or names of groups of them; documents of other types are dropped."""
    follow_only_types: MediaTypes = Field(default=(), examples=[["text/html"]])
    """Media types of documents that are read for their links, but not indexed."""
    detect_types: bool = Field(default=False, examples=[True])
    """Go by the type that the bytes show, unless it is a generic one, and not by the declared type."""
    cut_off: Size | None = Field(default=None, examples=["2 MB"])
    """Bytes of a document that are read; what `truncate` says happens to longer ones. None: all."""
    truncate: bool = Field(default=True, examples=[False])
    """Read the beginning of documents longer than `cut_off`; if not, drop them."""
    exclude_headers: HeaderExpressions = Field(default={}, examples=[{"Content-Language": ["(xx|zz)(-.*)?"]}])
    """Response headers whose value drops the document: expressions for each, covering all of it."""
    conversion: ConversionSection = Field(
        default=ConversionSection.by_default(), examples=[{"workers": 2, "timeout": 30}]
    )
    """How PDF, Office and other documents become text."""
    javascript: JavascriptSection = Field(
        default=JavascriptSection.by_default(),
        examples=[{"use": True, "urls": ["https://www.example.com/app/"], "keep_html": True}],
    )
    """Which pages are opened in a browser, so that their scripts run."""
    focused: FocusedSection = Field(
        default=FocusedSection.by_default(), examples=[{"languages": ["german", "unknown"], "depth": 1}]
    )
    """Which languages are kept, and how far links are followed through others."""
    languages: LanguagesSection = Field(default=LanguagesSection.by_default(), examples=[{"trust": "both"}])
    """How the language of documents is told."""
    duplicates: DuplicatesSection = Field(default=DuplicatesSection.by_default(), examples=[{"by": "body"}])
    """When pages are one document, and what becomes of their URLs."""
    relations: RelationsSection = Field(
        default=RelationsSection.by_default(), examples=[{"tell": ["duplicates", "redirects"]}]
    )
    """What documents in the index tell of other URLs that belong to them."""
    storage: StorageOptions = Field(default=StorageOptions.by_default(), examples=[{"keep": True}])
    """Whether and how fetched documents are kept."""
    feeding: FeedingSection = Field(  # word: the option of users
        default=FeedingSection.by_default(), examples=[{"paused": True}]
    )
    """Which indexes get the documents, and whether they get them now."""
    acl: PrincipalNames = Field(default=(), examples=[["staff"]])
    """Users and groups that may see the documents, apart from those that name others themselves; empty: everybody."""
    content: ContentSection = Field(
        default=ContentSection.by_default(), examples=[{"exclude": ".share", "main": "auto"}]
    )
    """What of a page is its text, and what is navigation."""
    attributes: Annotated[Mapping[str, str], BeforeValidator(lower_keys)] = Field(
        default={}, examples=[{"author": "Author", "dc.creator": "Author"}]
    )
    """Document attributes (META names in any case) and the search attribute of each."""
    extract: ExtractRules = Field(default={}, examples=[{"Department": "=Sales", "sku": {"css": ".sku"}}])
    """Document attributes made by rules: constants, templates, expressions, CSS selectors, XPath."""
    description_fallback: bool = Field(default=False, examples=[True])
    """Take the description from the text of pages that have none of their own."""
    parameter_file: str | None = Field(default=None, examples=["crawler.dat"])
    """A `crawler.dat` of Ultra Search: `USE_DESC_FALLBACK` before its IMPORT is `description_fallback`."""
    detect_language: bool = Field(default=False, examples=[True])
    """Tell the language of documents that name none by their text (needs the extra `language`)."""
    default_language: Language = Field(default="en", examples=["en"])
    """Language of documents that name none, and whose text does not tell it."""
    default_charset: Charset = Field(default="iso-8859-1", examples=["iso-8859-1"])
    """Character set of documents that declare none."""
