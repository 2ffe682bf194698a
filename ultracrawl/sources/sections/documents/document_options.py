"""The options of a source for its documents: types, processing, attributes, storage, destinations."""

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
    """The part of `SourceOptions` that affects documents."""

    FETCH_OPTIONS: ClassVar = frozenset({"feeding", "storage", "parameter_file"})

    types: MediaTypes = Field(
        default=("text/html", "text/plain", "application/xhtml+xml", *GROUPS["documents"]),
        examples=[["text/html", "documents"]],
    )
    """Media types to index, or names of groups of them. Documents of other types are dropped."""
    follow_only_types: MediaTypes = Field(default=(), examples=[["text/html"]])
    """Media types of documents whose links are followed but which are not indexed."""
    detect_types: bool = Field(default=False, examples=[True])
    """Use the media type detected from the bytes instead of the declared one, unless it is generic."""
    cut_off: Size | None = Field(default=None, examples=["2 MB"])
    """Maximum bytes of a document that are read; see `truncate` for longer ones. None: all."""
    truncate: bool = Field(default=True, examples=[False])
    """Read the beginning of documents longer than `cut_off`. If off, drop them."""
    exclude_headers: HeaderExpressions = Field(default={}, examples=[{"Content-Language": ["(xx|zz)(-.*)?"]}])
    """Drop documents by response headers: expressions by header name that match the whole value."""
    conversion: ConversionSection = Field(
        default=ConversionSection.by_default(), examples=[{"workers": 2, "timeout": 30}]
    )
    """How PDF, Office and other documents are converted to text."""
    javascript: JavascriptSection = Field(
        default=JavascriptSection.by_default(),
        examples=[{"use": True, "urls": ["https://www.example.com/app/"], "keep_html": True}],
    )
    """Which pages are rendered in a browser, so that their scripts run."""
    focused: FocusedSection = Field(
        default=FocusedSection.by_default(), examples=[{"languages": ["german", "unknown"], "depth": 1}]
    )
    """Which languages are kept, and how far links are followed through documents in others."""
    languages: LanguagesSection = Field(default=LanguagesSection.by_default(), examples=[{"trust": "both"}])
    """How the language of documents is determined."""
    duplicates: DuplicatesSection = Field(default=DuplicatesSection.by_default(), examples=[{"by": "body"}])
    """When pages are duplicates, and what happens to their URLs."""
    relations: RelationsSection = Field(
        default=RelationsSection.by_default(), examples=[{"tell": ["duplicates", "redirects"]}]
    )
    """Search attributes with related URLs of documents."""
    storage: StorageOptions = Field(default=StorageOptions.by_default(), examples=[{"keep": True}])
    """Whether and how fetched documents are stored."""
    feeding: FeedingSection = Field(default=FeedingSection.by_default(), examples=[{"paused": True}])
    """The destinations of the documents."""
    acl: PrincipalNames = Field(default=(), examples=[["staff"]])
    """Users and groups that may see the documents, unless a document names others itself. Empty: everybody."""
    content: ContentSection = Field(
        default=ContentSection.by_default(), examples=[{"exclude": ".share", "main": "auto"}]
    )
    """Which elements of a page are its text, and which are navigation."""
    attributes: Annotated[Mapping[str, str], BeforeValidator(lower_keys)] = Field(
        default={}, examples=[{"author": "Author", "dc.creator": "Author"}]
    )
    """Search attribute for each document attribute (META names in any case)."""
    extract: ExtractRules = Field(default={}, examples=[{"Department": "=Sales", "sku": {"css": ".sku"}}])
    """Document attributes from rules: constants, templates, expressions, CSS selectors, XPath."""
    description_fallback: bool = Field(default=False, examples=[True])
    """Take the description of pages without one from their text."""
    parameter_file: str | None = Field(default=None, examples=["crawler.dat"])
    """A `crawler.dat` of Ultra Search: `USE_DESC_FALLBACK` before its IMPORT sets `description_fallback`."""
    detect_language: bool = Field(default=False, examples=[True])
    """Detect the language of documents that declare none from their text (needs the extra `language`)."""
    default_language: Language = Field(default="en", examples=["en"])
    """Language of documents that declare none and whose text does not show it."""
    default_charset: Charset = Field(default="iso-8859-1", examples=["iso-8859-1"])
    """Character set of documents that declare none."""
