"""`DataSource`: the options of one source. The docstrings of the fields are the user documentation."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, JsonValue, ValidationInfo, model_validator

from ultracrawl.rules.access.readers import readers_by_path, with_origin
from ultracrawl.sources.reading.rule_files import with_parameters, with_urls_of_files
from ultracrawl.sources.reading.tree import OptionPath
from ultracrawl.sources.sections.crawl_options import CrawlOptions
from ultracrawl.sources.sections.documents.document_options import DocumentOptions
from ultracrawl.sources.sections.fetching.access_options import AccessOptions
from ultracrawl.sources.sections.fetching.authentication import PasswordEntry
from ultracrawl.sources.sections.section import Editable
from ultracrawl.sources.values import (
    DottedPath,
    FileNames,
    GroupNames,
    NodeName,
    PluginName,
    Publicity,
    SiteList,
    UrlList,
    as_list,
)
from ultracrawl.system.plugins import SOURCE_KINDS

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Names of sources; they also name spiders, files and groups of search results."""

LONGEST_NAME = 100

WEB = "web"
"""The type of sources that follow links."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")

SourceName = Annotated[str, Field(pattern=NAME_PATTERN, max_length=LONGEST_NAME)]
SettingName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]


def to_source_name(text: str, default: str) -> str:
    """Return a text as a valid source name: invalid characters become hyphens; `default` if nothing is left."""
    return _NOT_IN_NAMES.sub("-", text).strip("-._")[:LONGEST_NAME] or default


class SourceOptions(AccessOptions, DocumentOptions, CrawlOptions):
    """The options that `defaults` may set for all sources, and that each source may set itself."""

    FETCH_OPTIONS: ClassVar = frozenset({"settings", "takes_submissions"})

    groups: GroupNames = Field(default=(), examples=[["handbooks", "staff"]])
    """Data groups that the source belongs to. A search can be restricted to groups."""
    takes_submissions: bool = Field(default=True, examples=[False])
    """Accept URLs that users submit (`ultracrawl submit`, the API), if the rules of the source allow them."""
    settings: Mapping[SettingName, JsonValue] = Field(
        default={}, repr=False, examples=[{"LOG_LEVEL": "INFO"}]
    )
    """Scrapy settings for the spider of this source. They override those of ultracrawl."""


class SourceEntry(SourceOptions):
    """One source as written in a definition file, below its name."""

    FETCH_OPTIONS: ClassVar = frozenset({"start_urls", "send_links_to", "takes_links", "public", "node"})

    type: Annotated[str, PluginName(SOURCE_KINDS)] = Field(default=WEB, examples=["web"])
    """The kind of source. `web` follows links; `file`, `table`, `mail` and `agent` list their documents."""
    options: Mapping[str, JsonValue] = Field(default={}, repr=False, examples=[{"project": "intranet"}])
    """Options of a source type from a plug-in, which checks them itself. `web` has none."""
    start_urls: Editable[UrlList] = Field(default=(), examples=[["https://www.example.com/"]])
    """URLs at which crawling begins: a list, or one text with blanks or commas between URLs."""
    start_url_files: FileNames = Field(default=(), examples=[["seeds/handbook.txt"]])
    """Text files with further start URLs, one per line. They are read again for every run."""
    send_links_to: Annotated[tuple[SourceName, ...], BeforeValidator(as_list)] = Field(
        default=(), examples=[["outside"]]
    )
    """Sources that receive every link found in this one as a candidate. They need `takes_links`."""
    takes_links: bool = Field(default=False, examples=[True])
    """Accept links that other sources send, at the start of a run, if the rules of this source allow them. Start URLs
    are then optional.
    """
    public: Publicity = Field(default=False, examples=[True])
    """Let everybody find the documents by a public key or on a public search page, except documents with readers. A
    source that reaches more than the public does (logins, private networks) needs `acl` as well, or `confirmed`.
    """
    own_sites: SiteList = Field(default=(), examples=[["https://intranet.example.com/"]])
    """URLs whose sites are trusted like those of the start URLs, without crawling from them."""
    spider_class: DottedPath | None = Field(
        default=None, alias="class", examples=["mypackage.spiders.MySpider"]
    )
    """Your own spider, a subclass of `ultracrawl.spiders.SourceSpider`, as a dotted path."""
    node: NodeName = Field(default="", examples=["crawler-a"])
    """The node that alone crawls the source at its own interval. Empty: any."""

    @model_validator(mode="before")
    @classmethod
    def _read_files(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict):
            return data
        return with_urls_of_files(with_parameters(data, info), "start_url_files", "start_urls", info)


class DataSource(SourceEntry):
    """A data source with all its options, defaults included."""

    FETCH_OPTIONS: ClassVar = frozenset({"name"})

    name: SourceName = Field(examples=["handbook"])
    """The name of the source."""

    @property
    def seed_urls(self) -> tuple[str, ...]:
        """The URLs at which crawling begins: start URLs, then feeds."""
        return (*self.start_urls, *self.feeds.urls)

    @property
    def password_entries(self) -> Iterator[tuple[OptionPath, PasswordEntry]]:
        """All users and passwords of web servers, those of single sites too, with their paths."""
        for name, entry in self.authentication.items():
            yield ("authentication", name), entry
        for site, override in self.sites.overrides.items():
            for name, own in override.authentication.items():
                yield ("sites", "overrides", site, "authentication", name), own

    @property
    def login_options(self) -> tuple[str, ...]:
        """The options in use by which requests carry secrets, or what was received for them."""
        named = ("logins", "authentication", "client_certificates", "site_headers")
        used = [name for name in named if getattr(self, name)]
        used += [
            f"sites.overrides.{site}" for site, one in self.sites.overrides.items() if one.authentication
        ]
        return (*used, *(["cookies.enabled"] if self.cookies.enabled else []))

    def readers_of(self, *urls: str) -> tuple[str, ...]:
        """Return who may see a document with these URLs that names no readers itself; empty: everybody."""
        return readers_by_path(self.acl_paths, self.acl, urls) if self.acl_paths else self.acl

    @property
    def derives_readers(self) -> bool:
        """Whether readers are derived, from the permissions of files; such readers say what they are."""
        return self.type == "file" and bool(getattr(self, "permissions", False))

    def indexed_readers(self, own: Sequence[str], *urls: str) -> tuple[str, ...]:
        """Return the readers by which the index knows a document: its own ones, else those of the definition."""
        readers = tuple(own) or self.readers_of(*urls)
        return with_origin(readers) if self.derives_readers else readers

    @property
    def runs_scripts(self) -> bool:
        """Whether pages of any site are opened in a browser."""
        return bool(self.javascript.use) or any(one.javascript.use for one in self.sites.overrides.values())

    def with_delay(self, delay: float) -> Self:
        """Return the source with another delay for all sites, whatever `sites.overrides` says."""
        politeness = self.politeness.model_copy(update={"delay": delay})
        overrides = {
            name: one.model_copy(update={"politeness": one.politeness.model_copy(update={"delay": delay})})
            for name, one in self.sites.overrides.items()
        }
        sites = self.sites.model_copy(update={"overrides": overrides})
        return self.model_copy(update={"politeness": politeness, "sites": sites})

    def __str__(self) -> str:
        return f"{self.name} ({self.type}, start URLs: {len(self.start_urls)})"

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return the fields that `repr` shows; others are omitted because they may hold secrets."""
        return [("name", self.name), ("type", self.type)]
