"""A data source and its project as frozen values; the descriptions of the fields are the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, ValidationInfo, model_validator

from ultracrawl import __version__
from ultracrawl.attributes import AttributeType, SearchAttribute, attribute_schema
from ultracrawl.converters import GROUPS
from ultracrawl.sources.header_rules import HeaderExpressions
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.rule_files import with_parameters, with_urls_of_files
from ultracrawl.sources.sections.access_options import AccessOptions
from ultracrawl.sources.sections.boundary import BoundarySection
from ultracrawl.sources.sections.completion import CompletionSection
from ultracrawl.sources.sections.conversion import ConversionSection
from ultracrawl.sources.sections.duplicates import DuplicatesSection
from ultracrawl.sources.sections.extract import ExtractRules
from ultracrawl.sources.sections.failures import DeletionSection, ErrorsSection
from ultracrawl.sources.sections.feeding import PROJECT_INDEX, FeedingSection
from ultracrawl.sources.sections.feeds import FeedsSection
from ultracrawl.sources.sections.filters import FiltersSection
from ultracrawl.sources.sections.focused import FocusedSection
from ultracrawl.sources.sections.ftp import FtpSection
from ultracrawl.sources.sections.javascript import JavascriptSection
from ultracrawl.sources.sections.limits import LimitsSection
from ultracrawl.sources.sections.links import LinksSection
from ultracrawl.sources.sections.lists import ListedValues
from ultracrawl.sources.sections.log import LogSection
from ultracrawl.sources.sections.politeness import PolitenessSection
from ultracrawl.sources.sections.priority import PrioritySection
from ultracrawl.sources.sections.project import (
    CacheSection,
    DocumentsSection,
    FurtherIndex,
    IndexSection,
    LogsSection,
    StateSection,
)
from ultracrawl.sources.sections.refresh import OrphansSection, RefreshSection
from ultracrawl.sources.sections.relations import RELATION_ATTRIBUTES, RelationsSection
from ultracrawl.sources.sections.robots import RobotsSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.sections.sitemaps import SitemapsSection
from ultracrawl.sources.sections.sites import SitesSection
from ultracrawl.sources.sections.storage import StorageOptions
from ultracrawl.sources.sections.urls import UrlsSection
from ultracrawl.sources.values import (
    Charset,
    Depth,
    GroupNames,
    HeaderText,
    Language,
    MediaTypes,
    Size,
    UrlList,
)

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""What the name of a source may look like: it names a spider, a file and a group of search results."""

SourceName = Annotated[str, Field(pattern=NAME_PATTERN, max_length=100)]
SettingName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]
AttributeName = Annotated[str, Field(pattern=r"^[^\W\d]\w*$", max_length=100)]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _lower_keys(value: object) -> object:
    return {str(name).lower(): target for name, target in value.items()} if isinstance(value, dict) else value


def _lower_text(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _check_indexes(value: Mapping[str, FurtherIndex]) -> Mapping[str, FurtherIndex]:
    if PROJECT_INDEX in value:
        raise mistake(f"`{PROJECT_INDEX}` is the index of the project", "choose another name")
    return value


class SourceOptions(AccessOptions):
    """The options that `defaults` may set for all sources and each source for itself."""

    boundary: BoundarySection = Field(
        default=BoundarySection(),
        description="What belongs to the source.",
        examples=[{"schemes": ["https"]}],
    )
    urls: UrlsSection = Field(
        default=UrlsSection(),
        description="How links become URLs: canonical form and rewriting.",
        examples=[{"remove_params": ["session", "tracking"]}],
    )
    crawling_mode: Literal["accept-all", "examine", "index-only"] = Field(
        default="accept-all",
        description="What a crawl does: fetch, follow links and index (`accept-all`), all but index, until "
        "`ultracrawl approve` (`examine`), or all but follow links (`index-only`).",
        examples=["examine"],
    )
    depth: Depth = Field(
        default=None,
        description="Most link steps from a start URL, which has depth 0; `FULL` is no limit.",
        examples=[10],
    )
    robots: RobotsSection = Field(
        default=RobotsSection(),
        description="How far the wishes of site owners are followed.",
        examples=[{"name": "ultracrawl"}],
    )
    sitemaps: SitemapsSection = Field(
        default=SitemapsSection(),
        description="Which sitemaps are read, and how far they are believed.",
        examples=[{"trust_lastmod": False}],
    )
    politeness: PolitenessSection = Field(
        default=PolitenessSection(), description="How gently sites are treated.", examples=[{"delay": 0.5}]
    )
    sites: SitesSection = Field(
        default=SitesSection(),
        description="How many sites are crawled at a time, and which hosts belong together.",
        examples=[{"max_sites": 16}],
    )
    priority: PrioritySection = Field(
        default=PrioritySection(),
        description="Levels of the queue: which URLs go ahead of others.",
        examples=[{"levels": 2, "pop_scheme": "pri"}],
    )
    limits: LimitsSection = Field(
        default=LimitsSection(), description="Bounds for one page and one run.", examples=[{"timeout": 30}]
    )
    refresh: RefreshSection = Field(
        default=RefreshSection(),
        description="What is fetched again, and when.",
        examples=[{"mode": "scratch", "interval": "36 h"}],
    )
    orphans: OrphansSection = Field(
        default=OrphansSection(),
        description="What becomes of documents that nothing leads to any more.",
        examples=[{"after": 5}],
    )
    redirects: Literal["follow-temporary", "strict"] = Field(
        default="follow-temporary",
        description="Which redirects may leave the boundary: temporary ones (302, 303, 307), or none.",
        examples=["strict"],
    )
    user_agent: HeaderText = Field(
        default=f"ultracrawl/{__version__}",
        description="The User-Agent header. Add an address where site owners can reach you.",
        examples=["ultracrawl (+https://www.example.com/crawler)"],
    )
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
        description="Response headers whose value drops the document: expressions (RE2) for each, covering all of it.",
        examples=[{"Content-Language": ["(xx|zz)(-.*)?"]}],
    )
    conversion: ConversionSection = Field(
        default=ConversionSection(),
        description="How PDF, Office and other documents become text.",
        examples=[{"workers": 2, "timeout": 30}],
    )
    links: LinksSection = Field(
        default=LinksSection(),
        description="Which kinds of links are followed, and what is a redirect.",
        examples=[{"img": True, "refresh_seconds": 5}],
    )
    errors: ErrorsSection = Field(
        default=ErrorsSection(),
        description="What errors mean for a URL and its document.",
        examples=[{"http": {"5xx": "DELETE:10"}}],
    )
    feeds: FeedsSection = Field(
        default=FeedsSection(),
        description="Which RSS and Atom feeds are read, and what becomes of what they name.",
        examples=[{"urls": ["https://news.example.com/feed.xml"], "follow_links": False}],
    )
    javascript: JavascriptSection = Field(
        default=JavascriptSection(),
        description="Which pages are opened in a browser, so that their scripts run.",
        examples=[{"use": True, "urls": ["https://www.example.com/app/"], "keep_html": True}],
    )
    post_payload: Mapping[str, str] = Field(
        default={},
        repr=False,
        description="Bodies sent by POST, as form fields unless a header says otherwise: by URL, or by `prefix:` and "
        "the beginning of URLs. An exact URL wins, then the longest beginning.",
        examples=[{"prefix:https://www.example.com/catalogue/": "view=full"}],
    )
    ftp: FtpSection = Field(
        default=FtpSection(),
        description="How FTP servers are spoken to.",
        examples=[{"passive": False}],
    )
    deletion: DeletionSection = Field(
        default=DeletionSection(),
        description="How many documents may leave the index in one run.",
        examples=[{"percent": 5}],
    )
    focused: FocusedSection = Field(
        default=FocusedSection(),
        description="Which languages are kept, and how far links are followed through others.",
        examples=[{"languages": ["german", "unknown"], "depth": 1}],
    )
    groups: GroupNames = Field(
        default=(),
        description="Data groups that the source belongs to; a search may be restricted to groups.",
        examples=[["handbooks", "staff"]],
    )
    filters: FiltersSection = Field(
        default=FiltersSection(),
        description="Filters of the portal robot, which decide over links and documents.",
        examples=[{"file": "config/filter.conf"}],
    )
    completion: CompletionSection = Field(
        default=CompletionSection(),
        description="What happens when a run is over.",
        examples=[{"command": "/usr/local/bin/mail-report"}],
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
    log: LogSection = Field(
        default=LogSection(),
        description="Logs that are kept beside the document table.",
        examples=[{"screened": True}],
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
    settings: Mapping[SettingName, JsonValue] = Field(
        default={},
        repr=False,
        description="Scrapy settings for the spider of this source; they win over what ultracrawl sets.",
        examples=[{"LOG_LEVEL": "INFO"}],
    )


class SourceEntry(SourceOptions):
    """One source as it stands in a definition file, below its name."""

    type: Literal["web"] = Field(
        default="web", description="What kind of source it is: `web` follows links.", examples=["web"]
    )
    start_urls: UrlList = Field(
        default=(),
        description="Where crawling begins: a list, or one text with blanks or commas between URLs.",
        examples=[["https://www.example.com/"]],
    )
    start_url_files: Annotated[tuple[str, ...], BeforeValidator(_listed)] = Field(
        default=(),
        description="Text files with further start URLs, one a line; they are read again for every run.",
        examples=[["seeds/handbook.txt"]],
    )
    send_links_to: Annotated[tuple[SourceName, ...], BeforeValidator(_listed)] = Field(
        default=(),
        description="Sources that get every link found in this one as a candidate; they have `takes_links`.",
        examples=[["outside"]],
    )
    takes_links: bool = Field(
        default=False,
        description="Take links that other sources send, when a run begins; its own rules decide. Needs no start URLs.",
        examples=[True],
    )
    spider_class: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")] | None = Field(
        default=None,
        alias="class",
        description="Your own spider, a subclass of `ultracrawl.spiders.SourceSpider`, as a dotted path.",
        examples=["mypackage.spiders.MySpider"],
    )

    @model_validator(mode="before")
    @classmethod
    def _read_url_files(cls, data: Any, info: ValidationInfo) -> Any:
        names = data.get("start_url_files") if isinstance(data, dict) else None
        listed = [names] if isinstance(names, str) else names
        if not listed or not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            return data
        return with_urls_of_files(data, listed, info)

    @model_validator(mode="before")
    @classmethod
    def _read_parameters(cls, data: Any, info: ValidationInfo) -> Any:
        name = data.get("parameter_file") if isinstance(data, dict) else None
        return with_parameters(data, name, info) if isinstance(name, str) and name.strip() else data


class DataSource(SourceEntry):
    """A data source with everything that is said about it, defaults included."""

    name: SourceName = Field(description="The name of the source.", examples=["handbook"])

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Where crawling begins: the start URLs and the feeds."""
        return (*self.start_urls, *self.feeds.urls)

    def __str__(self) -> str:
        return f"{self.name} ({self.type}, start URLs: {len(self.start_urls)})"

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return what `repr` shows; values stay out, because they may hold secrets."""
        return [("name", self.name), ("type", self.type)]


class DefinitionHead(Section):
    """The part of a definition file that concerns the whole project."""

    index: IndexSection = Field(
        default=IndexSection(), description="The full-text index, or its path alone.", examples=["var/index"]
    )
    indexes: Annotated[Mapping[SourceName, FurtherIndex], AfterValidator(_check_indexes)] = Field(
        default={},
        description="Further indexes by name, each with its path, that `feeding` of sources may name.",
        examples=[{"archive": {"engine": "whoosh", "path": "var/archive"}}],
    )
    state: StateSection = Field(
        default=StateSection(),
        description="The document tables and queues, or their path alone.",
        examples=["var/state"],
    )
    cache: CacheSection = Field(
        default=CacheSection(),
        description="The durable document cache, or its path alone.",
        examples=["var/cache"],
    )
    documents: DocumentsSection = Field(
        default=DocumentsSection(),
        description="The documents that sources keep, or their path alone.",
        examples=["var/documents"],
    )
    logs: LogsSection = Field(
        default=LogsSection(), description="The logs of sources, or their path alone.", examples=["var/log"]
    )
    key_file: Path | None = Field(
        default=None,
        description="The key of encrypted passwords; `ultracrawl secret new-key` makes one.",
        examples=["config/password.key"],
    )
    attributes: Mapping[AttributeName, Annotated[AttributeType, BeforeValidator(_lower_text)]] = Field(
        default={},
        description="Search attributes beside the eight that always exist: name and type.",
        examples=[{"Product": "string", "Price": "number", "Published": "date"}],
    )
    lists: Mapping[AttributeName, ListedValues] = Field(
        default={},
        description="Lists of values: for a search attribute its values, with display names by language.",
        examples=[{"Country": {"de": {"en": "Germany", "de": "Deutschland"}}}],
    )


class DefinitionFile(DefinitionHead):
    """A whole definition file, for its JSON schema."""

    defaults: SourceOptions = Field(
        default=SourceOptions(),
        description="Options for all sources; what a source says itself wins, option by option.",
        examples=[{"depth": 5}],
    )
    sources: Mapping[SourceName, SourceEntry] = Field(
        default={},
        description="The data sources by name.",
        examples=[{"handbook": {"start_urls": ["https://handbook.example.com/"]}}],
    )


class Project(DefinitionHead):
    """Sources with the index, state and cache that they share; all paths are absolute."""

    base: Path = Field(description="The folder that relative paths are taken from.")
    sources: Mapping[str, DataSource] = Field(default={}, description="The data sources by name.")

    def __str__(self) -> str:
        return f"project in {self.base} ({len(self.sources)} sources)"

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The data groups by name, each with its sources (Ultra Search 2.5)."""
        found: dict[str, tuple[str, ...]] = {}
        for source in self.sources.values():
            for group in dict.fromkeys(source.groups):
                found[group] = (*found.get(group, ()), source.name)
        return found

    @property
    def schema_attributes(self) -> dict[str, SearchAttribute]:
        """All search attributes by name, the eight defaults first, those that `relations` fill last."""
        own = (SearchAttribute(name, kind) for name, kind in self.attributes.items())
        told = {
            RELATION_ATTRIBUTES[one] for source in self.sources.values() for one in source.relations.names
        }
        return attribute_schema((*own, *map(SearchAttribute, sorted(told))))


def make_project(head: DefinitionHead, sources: Mapping[str, DataSource], base: Path) -> Project:
    """Return the project of a validated head and its sources; paths of the head are taken from `base`."""
    base = base.absolute()
    return Project.model_construct(
        index=head.index.model_copy(update=head.index.below(base)),
        indexes={name: one.model_copy(update=one.below(base)) for name, one in head.indexes.items()},
        state=head.state.model_copy(update=head.state.below(base)),
        cache=head.cache.model_copy(update=head.cache.below(base)),
        documents=head.documents.model_copy(update=head.documents.below(base)),
        logs=head.logs.model_copy(update=head.logs.below(base)),
        key_file=base / head.key_file if head.key_file else None,
        attributes=head.attributes,
        lists=head.lists,
        base=base,
        sources={name: _placed(source, base) for name, source in sources.items()},
    )


def _placed(source: DataSource, base: Path) -> DataSource:
    """Return a source whose filters and programs are taken from a folder, wherever the command is given."""
    update: dict[str, object] = {}
    if source.filters.file is not None:
        update["filters"] = source.filters.below(base)
    if source.completion.programs is not None:
        programs = base / source.completion.programs
        update["completion"] = source.completion.model_copy(update={"programs": programs})
    return source.model_copy(update=update) if update else source
