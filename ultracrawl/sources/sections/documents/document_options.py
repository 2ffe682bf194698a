"""The options of a source for its documents, with the sections that are about nothing else."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ultracrawl.content.converters.conversion import ConversionLimits
from ultracrawl.content.converters.registry import GROUPS, converter_table
from ultracrawl.rules.duplicates.fingerprint import MAX_DISTANCE, SHINGLE
from ultracrawl.sources.header_rules import Expression, HeaderExpressions
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.sections.documents.destinations import FeedingSection
from ultracrawl.sources.sections.documents.extract import ExtractRules
from ultracrawl.sources.sections.documents.page_content import ContentSection
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection
from ultracrawl.sources.sections.scope.focused import FocusedSection
from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.values import (
    Charset,
    FilePath,
    Language,
    MediaTypes,
    PrincipalNames,
    ReaderPath,
    Readers,
    Seconds,
    Size,
    as_list,
    lower_keys,
)

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


Trust = Literal["declared", "detected", "both"]
"""Source of the language of a document."""


class LanguagesSection(Section):
    """How the language of documents is determined."""

    trust: Trust | None = Field(default=None, examples=["both"])
    """Language used for search and for `focused`: the one that pages and headers declare, the one detected in the text
    (needs the extra `language`), or both: the declared one unless the text is clearly in another language. None: the
    detected one for `focused`, the declared one for search.
    """


_SOFT_SHARE = 0.8
"""Share of the time limit after which a converter stops by itself, so that its partial text is kept."""


_MIN_MEMORY = 128 << 20


def _check_memory(size: int) -> int:
    if size < _MIN_MEMORY:
        raise mistake("a conversion process does not start with so little memory", "write `128 MB` or more")
    return size


Memory = Annotated[Size, AfterValidator(_check_memory)]


class ConversionSection(Section):
    """How documents that are not HTML are converted (Ultra Search 3). Each limit applies to one document."""

    FETCH_OPTIONS: ClassVar = frozenset({"workers", "timeout", "memory"})

    use: bool = Field(default=True, examples=[False])
    """Convert documents that are neither HTML nor plain text. If off, they are dropped."""
    exclude_types: MediaTypes = Field(default=(), examples=[["application/pdf"]])
    """Media types that are not converted. Their documents are dropped."""
    workers: int = Field(default=1, ge=1, le=64, examples=[2])
    """Number of conversion processes."""
    timeout: Seconds = Field(default=60.0, gt=0, examples=[60])
    """Seconds of processor time after which a conversion is given up. At four fifths of it, it stops with a partial
    text. A conversion that takes ten times as long by the clock on the wall is made again at the end of the run."""
    memory: Memory = Field(default=1 << 30, examples=["1 GB"])
    """Maximum memory (address space) of a conversion process. A document that needs more gets status 908."""
    text: Size = Field(default=5_000_000, examples=["5 MB"])
    """Maximum characters of text kept of a document or page."""
    unpacked: Size = Field(default=200 << 20, examples=["200 MB"])
    """Maximum unpacked bytes of a packed document or archive."""
    members: int = Field(default=1000, ge=1, le=1_000_000, examples=[1000])
    """Maximum number of files, parts or sheets read inside a document."""
    nesting: int = Field(default=3, ge=0, le=20, examples=[3])
    """Maximum nesting of documents in documents. A PDF attached to a message in an archive is 2."""
    keep_partial: bool = Field(default=True, examples=[False])
    """Index the partial text of a document whose conversion failed, marked as truncated."""

    @property
    def types(self) -> frozenset[str]:
        """The media types that are converted."""
        if not self.use:
            return frozenset()
        return frozenset(name for name in converter_table().by_type if not self._excludes(name))

    def _excludes(self, name: str) -> bool:
        main = name.partition("/")[0]
        return not {name, f"{main}/*", "*/*"}.isdisjoint(self.exclude_types)

    @property
    def limits(self) -> ConversionLimits:
        """The limits that converters enforce themselves."""
        return ConversionLimits(
            self.text, self.unpacked, self.members, self.nesting, self.timeout * _SOFT_SHARE
        )


class DuplicatesSection(Section):
    """How duplicate pages of a source are detected, and what is kept of them."""

    detect: bool | None = Field(default=None, examples=[False])
    """Index a document once, no matter how many URLs of the source have it.

    None: true, except for documents that a key identifies, such as rows of tables.
    """
    by: Literal["text", "body"] = Field(default="text", examples=["body"])
    """What is compared: title and visible text, or the bytes of the body."""
    meta: bool = Field(default=False, examples=[True])
    """Compare META values too: pages that differ in them are not duplicates."""
    cut_off: Size | None = Field(default=None, examples=["64 KB"])
    """Number of leading bytes to compare. None: all."""
    near: bool = Field(default=False, examples=[True])
    """Treat pages with nearly equal texts as duplicates too."""
    near_distance: int = Field(default=MAX_DISTANCE, ge=0, le=MAX_DISTANCE, examples=[2])
    """Parts (of 16) in which the signatures of nearly equal texts may differ."""
    near_words: int = Field(default=20, ge=SHINGLE, le=100_000, examples=[50])
    """Texts with fewer words are compared exactly."""
    canonical: bool | Literal["follow"] = Field(default=True, examples=["follow"])
    """Use canonical links to choose the URL that represents the duplicates.

    `follow`: a page whose canonical link names another page of the source is its alias, too, whatever its text.
    """
    follow_links: bool = Field(default=True, examples=[False])
    """Follow the links of duplicates, which may differ even if the texts are equal."""
    listed: int = Field(default=10, ge=0, le=1_000_000, examples=[100])
    """Maximum number of duplicates remembered per document; they can replace it."""
    always_listed: Expression | None = Field(default=None, examples=[r".*/index\.html"])
    """Expression (RE2) matching whole URLs: such duplicates are remembered in addition to `listed`."""

    @property
    def follows_canonical(self) -> bool:
        """Whether a page is an alias of the page that its canonical link names."""
        return self.canonical == "follow"


class StorageOptions(Section):
    """Storage of fetched documents, from which the index can be rebuilt without requests."""

    keep: bool = Field(default=False, examples=[True])
    """Store the bodies of indexed documents."""
    form: Literal["blocks", "files"] = Field(default="blocks", examples=["files"])
    """`blocks`: all documents in one file. `files`: each in a file of its own."""
    headers: bool = Field(default=True, examples=[False])
    """Store all response headers except cookies. If off, only Content-Type and X-Robots-Tag."""
    duplicates: bool = Field(default=False, examples=[True])
    """Store the bodies of duplicates too."""
    compress: bool = Field(default=True, examples=[False])
    """Compress bodies (zlib)."""
    compress_exclude: MediaTypes = Field(default=(), examples=[["image/jpeg", "video/*"]])
    """Media types whose bodies are not compressed, because they already are."""
    size: Size | None = Field(default=None, examples=["10 GB"])
    """Maximum stored size of all bodies. Further ones are not stored. None: no limit."""
    remove_sent: bool = Field(default=False, examples=[True])
    """Remove a body once all destinations have its document. It cannot be reindexed from the store then."""
    clusters: int = Field(default=1, ge=1, le=1024, examples=[8])
    """Number of files (`blocks`) or folders (`files`) of a new store. It cannot be changed later."""
    compact_below: int = Field(default=85, ge=0, le=100, examples=[70])
    """Percentage of a file in use (`blocks`) below which it is compacted at the end of a run. 0: never."""
    link_lists: FilePath | None = Field(default=None, examples=["var/links"])
    """Folder for lists of all links of pages, before any rule: one file per process, `PID.txt`."""


class DocumentOptions(Section):
    """The part of `SourceOptions` that affects documents."""

    FETCH_OPTIONS: ClassVar = frozenset({"feeding", "storage", "parameter_file"})

    types: Editable[MediaTypes] = Field(
        default=("text/html", "text/plain", "application/xhtml+xml", *GROUPS["documents"]),
        examples=[["text/html", "documents"]],
    )
    """Media types to index, or names of groups of them. Documents of other types are dropped."""
    follow_only_types: Editable[MediaTypes] = Field(default=(), examples=[["text/html"]])
    """Media types of documents whose links are followed but which are not indexed."""
    detect_types: Editable[bool] = Field(default=False, examples=[True])
    """Use the media type detected from the bytes instead of the declared one, unless it is generic."""
    cut_off: Editable[Size | None] = Field(default=None, examples=["2 MB"])
    """Maximum bytes of a document that are read; see `truncate` for longer ones. None: all."""
    truncate: Editable[bool] = Field(default=True, examples=[False])
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
    """The indexes, files and web servers that get the documents."""
    acl: Readers = Field(default=(), examples=[["staff"]])
    """Users and groups that may see the documents, unless a document or `acl_paths` names others: `user:NAME`,
    `group:NAME`, or the bare name of both. Empty or `everybody`: everybody. `required`: nobody."""
    acl_paths: Mapping[ReaderPath, PrincipalNames] = Field(
        default={}, examples=[{"/staff/": ["staff"], "/press/": []}]
    )
    """Users and groups that may see the documents below a path or a URL; `*` stands for any characters. The longest one
    that fits counts. An empty list: everybody."""
    content: ContentSection = Field(
        default=ContentSection.by_default(), examples=[{"exclude": ".share", "main": "auto"}]
    )
    """Which elements of a page are its text, and which are navigation."""
    attributes: Editable[Annotated[Mapping[str, str], BeforeValidator(lower_keys)]] = Field(
        default={}, examples=[{"author": "Author", "dc.creator": "Author"}]
    )
    """Search attribute for each document attribute (META names in any case). `"name:*": "*"` keeps all whose names
    begin so: each in the search attribute that is called like the rest of its name, or as a field of this name.
    """
    extract: ExtractRules = Field(default={}, examples=[{"Department": "=Sales", "sku": {"css": ".sku"}}])
    """Document attributes from rules: constants, templates, expressions, CSS selectors, XPath."""
    description_fallback: Editable[bool] = Field(default=False, examples=[True])
    """Take the description of pages without one from their text."""
    parameter_file: str | None = Field(default=None, examples=["crawler.dat"])
    """A `crawler.dat` of Ultra Search: `USE_DESC_FALLBACK` before its IMPORT sets `description_fallback`."""
    detect_language: Editable[bool] = Field(default=False, examples=[True])
    """Detect the language of documents that declare none from their text (needs the extra `language`)."""
    default_language: Editable[Language] = Field(default="en", examples=["en"])
    """Language of documents that declare none and whose text does not show it."""
    default_charset: Editable[Charset] = Field(default="iso-8859-1", examples=["iso-8859-1"])
    """Character set of documents that declare none."""
