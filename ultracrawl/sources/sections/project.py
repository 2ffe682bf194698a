"""The sections of a project: index, state, cache, destinations, documents, logs, processes, profiles, search page."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    SecretStr,
    ValidationInfo,
    model_validator,
)

from ultracrawl.sources.durations import Interval
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.reading.rule_files import RuleFiles
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.fetching.request import SiteHeader
from ultracrawl.sources.sections.schedules import OptimiseSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import (
    AttributeName,
    FilePath,
    Network,
    PluginName,
    Region,
    Seconds,
    Size,
    is_site,
    one_or_list,
)
from ultracrawl.system.plugins import DESTINATIONS, ENGINES, STORES


def _check_server(url: str) -> str:
    parts = urlsplit(check_web_url(url))
    if parts.username or parts.query or parts.fragment:
        raise mistake(
            "this is more than the address of a server",
            "write it as `http://north.example.com:6800`, and the account into `user` and `password`",
        )
    return url.rstrip("/")


class ProfileSection(Section):
    """Another machine with a Scrapyd server that runs crawls."""

    scrapyd: Annotated[str, AfterValidator(_check_server)] = Field(examples=["http://north.example.com:6800"])
    """The URL of Scrapyd on the other machine."""
    project: Annotated[str, Field(min_length=1, max_length=200)] = Field(examples=["intranet_sources"])
    """The project deployed in that Scrapyd. Its spiders have the names of the sources."""
    user: str = Field(default="", max_length=200, examples=["crawls"])
    """The user for Scrapyd, if it requires authentication."""
    password: Secret | None = Field(default=None, examples=["${NORTH_PASSWORD}"])
    """The password of `user`."""

    @model_validator(mode="after")
    def _both(self) -> Self:
        if bool(self.user) is not (self.password is not None):
            given, missing = ("user", "password") if self.user else ("password", "user")
            raise mistake(f"`{given}` has no effect without `{missing}`", f"add `{missing}`, or remove it")
        return self


class FormerQueries(StrEnum):
    """Queries of before that complete what is typed."""

    RECENT = "recent"
    """The last ones of the person, kept by the browser."""
    FREQUENT = "frequent"
    """Those that are often asked, by the statistics."""


class SearchPageSection(Section):
    """The search page of `ultracrawl serve`."""

    public: bool = Field(default=False, examples=[True])
    """Show the page without log-in. Its visitors find the documents of sources with `public` only."""
    title: Annotated[str, Field(max_length=100)] = Field(default="", examples=["Example Docs"])
    """The name of the page, which stands at its top."""
    filters: Annotated[tuple[AttributeName, ...], one_or_list(AttributeName)] = Field(
        default=(), max_length=10, examples=[["Product", "Mimetype"]]
    )
    """Search attributes that the page offers as filters. None: your own text attributes (at most three), type, year and
    language."""
    cached_copies: bool = Field(default=True, examples=[False])
    """Offer a copy of each document whose response is stored (`storage.keep`), unless its publisher forbids that."""
    statistics: bool = Field(default=True, examples=[False])
    """Count the queries of the page, of the API and of embedded boxes, without users and addresses."""
    statistics_days: Annotated[int, Field(ge=1, le=1000)] = Field(default=90, examples=[365])
    """For how many days these counts are stored."""
    former_queries: Annotated[tuple[FormerQueries, ...], one_or_list(FormerQueries)] = Field(
        default=(), examples=[["recent", "frequent"]]
    )
    """Queries that complete what is typed, beside pages: the last ones of the person, kept by the browser (`recent`);
    those that are often asked, by the statistics (`frequent`)."""
    check_answers: FilePath | None = Field(default=None, examples=["config/golden.yaml"])
    """A file of golden queries that `ultracrawl serve` checks after each crawl."""

    def resolve_paths(self, base: Path) -> Self:
        """Return the section with absolute paths; relative ones are relative to `base`."""
        path = self.check_answers
        return self.model_copy(update={"check_answers": base / path}) if path is not None else self


def is_web_url(url: str) -> bool:
    """Return whether a URL is an http(s) URL without user and password."""
    return is_site(url) and not url.lower().startswith("ftp")


def check_web_url(url: str) -> str:
    """Return an http(s) URL without user and password. Raises a validation error for anything else."""
    if not is_web_url(url):
        raise mistake(
            "this is not the URL of a web server", "write it in full, as `https://www.example.com/documents`"
        )
    return url


class StorageSection(Section):
    """Options of a storage location; may be written as just its path."""

    path: Path

    @model_validator(mode="before")
    @classmethod
    def _path_alone(cls, data: Any) -> Any:
        return {"path": data} if isinstance(data, str) and data.strip() else data

    def resolve_paths(self, base: Path, instead_of: Path) -> Self:
        """Return the section with a path below `base`, if its path is relative or below `instead_of`."""
        path = self.path.expanduser()
        inner = path.relative_to(instead_of) if path.is_relative_to(instead_of) else path
        return self.model_copy(update={"path": base / inner})


class PluginOptions(Section):
    """Options that a plug-in defines."""

    options: Mapping[str, JsonValue] = Field(
        default={}, repr=False, examples=[{"url": "https://search.example.com:9200"}]
    )
    """The options of an engine or a type from a plug-in."""
    secrets: Mapping[Annotated[str, Field(min_length=1)], Secret] = Field(
        default={}, repr=False, examples=[{"password": "${SEARCH_PASSWORD}"}]
    )
    """Those of its options that are secret: `${NAME}` of the environment, `file:PATH`, encrypted, or as they are."""

    @model_validator(mode="after")
    def _are_disjoint(self) -> Self:
        if twice := sorted(self.options.keys() & self.secrets.keys()):
            raise mistake(f"`{twice[0]}` stands in `options` and in `secrets`", "remove one of them")
        return self


def _below_definition(value: object, info: ValidationInfo) -> object:
    """Return a path that is relative to the folder of the definition, if that is known."""
    if isinstance(value, str) and isinstance(info.context, RuleFiles):
        return info.context.base / value
    return value


class EngineOptions(PluginOptions):
    """The engine of an index, and the servers of the engine `opensearch`."""

    ADVICE: ClassVar = {
        "type": "an index has an `engine`; what has a `type` stands in `destinations`, and is not searched here",
        "collection": "the index of an `engine` has a `name`; a `collection` is that of a destination",
    }
    """What to write instead of options that it does not have."""
    SERVER_OPTIONS: ClassVar = (
        *("url", "name", "shards", "replicas", "auth", "user", "password", "key", "region", "ca"),
        *("timeout", "retry"),
    )

    engine: Annotated[str, PluginName(ENGINES)] = Field(default="whoosh", examples=["tantivy"])
    """The index engine. `tantivy` and `opensearch` need the extra of their name."""
    url: Annotated[tuple[Annotated[str, AfterValidator(_check_server)], ...], one_or_list(str)] = Field(
        default=(), examples=["https://search.example.com:9200"]
    )
    """The URLs of the servers, for `opensearch` (like all following options)."""
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)] = Field(
        default="ultracrawl", examples=["intranet"]
    )
    """The name of the index: an alias. The indexes behind it begin with this name."""
    shards: Annotated[int, Field(ge=1, le=1000)] = Field(default=1, examples=[3])
    """Number of shards of a new index."""
    replicas: Annotated[int, Field(ge=0, le=100)] = Field(default=1, examples=[0])
    """Number of copies of each shard of a new index."""
    auth: Literal["basic", "aws"] = Field(default="basic", examples=["aws"])
    """How requests show `user` and `password`: as they are, or by a signature of Amazon (needs the extra `s3`)."""
    user: str = Field(default="", max_length=200, examples=["crawler"])
    """The user; with `auth: aws` the access key ID. Empty: the keys of the environment, a profile or the machine."""
    password: Secret | None = Field(default=None, examples=["${SEARCH_PASSWORD}"])
    """The password of `user`; with `auth: aws` the secret access key."""
    key: Secret | None = Field(default=None, examples=["${SEARCH_KEY}"])
    """An API key instead of `user` and `password`, sent as `Authorization: ApiKey`."""
    region: Region | None = Field(default=None, examples=["eu-central-1"])
    """The region of the servers, for `auth: aws`. None: that of the environment or the profile."""
    ca: Annotated[Path, BeforeValidator(_below_definition)] | None = Field(
        default=None, examples=["config/search-ca.pem"]
    )
    """The authorities by which certificates of the servers are verified. None: those of the client library."""
    timeout: Seconds = Field(default=60.0, gt=0, examples=[30])
    """Seconds after which a request without an answer is given up."""
    retry: Seconds = Field(default=60.0, examples=[300])
    """Seconds for which documents are sent again that busy servers refuse."""

    @model_validator(mode="after")
    def _fits_engine(self) -> Self:
        is_server = self.engine == "opensearch"
        foreign = ("options", "secrets") if is_server else self.SERVER_OPTIONS
        for option in foreign:
            if option in self.model_fields_set:
                raise mistake(f"`{option}` has no effect on the engine `{self.engine}`", "remove it")
        if is_server and not self.url:
            raise mistake(
                "`url` is missing, which the engine `opensearch` needs",
                "add `url:`; a server that is searched by other programs is a destination of the type `opensearch`",
            )
        is_signed, has_password = self.auth == "aws", self.password is not None
        if self.key is not None and (self.user or has_password or is_signed):
            other = "auth" if is_signed else "user"
            raise mistake(f"`key` and `{other}` are two ways to log in", "keep one of them")
        if is_signed and bool(self.user) != has_password:
            raise mistake(
                "of the two keys of `auth: aws` one is missing", "write `user` and `password`, or none"
            )
        if self.region is not None and not is_signed:
            raise mistake("`region` has no effect without `auth: aws`", "remove it")
        return self

    def given_options(self) -> tuple[dict[str, JsonValue], Mapping[str, SecretStr]]:
        """Return the options of the engine, and the secret ones."""
        if self.engine != "opensearch":
            return dict(self.options), self.secrets
        plain = self.model_dump(mode="json", include=set(self.SERVER_OPTIONS) - {"password", "key"})
        secrets = {"password": self.password, "key": self.key}
        return plain, {name: secret for name, secret in secrets.items() if secret is not None}


class IndexSection(StorageSection, EngineOptions):
    """The full-text index, one for all sources of a project."""

    path: FilePath = Field(default=Path("var/index"), examples=["var/index"])
    """Folder of the index."""
    every: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(default=None, examples=[1800])
    """Maximum seconds until fetched documents are sent to the index. None: decided automatically."""
    boosts: Mapping[str, Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]] = Field(
        default={}, examples=[{"https://www.example.com/": 3, "https://www.example.com/old/*": 0.5}]
    )
    """Score factors by URL, or by URL prefix with a trailing `*`."""
    optimise: OptimiseSection | None = Field(default=None, examples=[{"cron": "0 4 * * sun", "limit": "1 h"}])
    """When segments are merged and the space of deleted documents is freed. None: decided automatically."""
    anchors: bool = Field(default=True, examples=[False])
    """Index the anchor texts of links to a document from other pages of its source. Their words count double."""


class FurtherIndex(StorageSection, EngineOptions):
    """An additional index that sources name in `feeding`; may be written as just its path."""

    path: FilePath = Field(default=Path("var/indexes"), examples=["var/archive"])
    """Folder of the index. Default: one of its name in `var/indexes`."""

    def named(self, name: str) -> Self:
        """Return the section of the index with this name: its folder is known."""
        return self if "path" in self.model_fields_set else self.model_copy(update={"path": self.path / name})


SEARCH_ENGINES = frozenset({"elasticsearch", "meilisearch", "opensearch", "solr", "typesense"})
"""Types of destinations that are search engines."""


class DestinationSection(PluginOptions):
    """A destination of documents other than an index; the valid options depend on its type."""

    ADVICE: ClassVar = {
        "engine": "a destination has a `type`; the `engine` of an index that is searched here stands in `indexes`",
        "name": "a destination has a `collection`; the `name` is that of an index that is searched here",
    }
    """What to write instead of options that it does not have."""

    type: Annotated[str, PluginName(DESTINATIONS)] = Field(examples=["http"])
    """`jsonl`: a file with one JSON object per line. `http`: a web server that receives such lines by POST.
    `opensearch`, `elasticsearch`, `meilisearch`, `typesense`, `solr`: a search engine.
    """
    path: FilePath | None = Field(default=None, examples=["var/export.jsonl"])
    """The file, for `jsonl`."""
    url: Annotated[str, AfterValidator(check_web_url)] | None = Field(
        default=None, examples=["https://portal.example.com/documents"]
    )
    """The URL that documents are sent to, for `http` and search engines (like all following options)."""
    collection: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]*$", max_length=100)] = Field(
        default="ultracrawl", examples=["docs"]
    )
    """The index, collection or core of a search engine. It is made if there is none; in Solr it has to exist."""
    key: Secret | None = Field(default=None, examples=["${SEARCH_KEY}"])
    """The API key of a search engine: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""
    records: Literal["documents", "sections", "docsearch"] = Field(default="documents", examples=["sections"])
    """What a search engine gets: one record a document, one a section, or those of a DocSearch scraper."""
    headers: Mapping[SiteHeader, Secret] = Field(
        default={}, repr=False, examples=[{"Authorization": "${PORTAL_TOKEN}"}]
    )
    """Headers of every request. Values may be secrets."""
    user: str = Field(default="", examples=["crawler"])
    """The user, sent with every request (Basic authentication)."""
    password: Secret | None = Field(default=None, examples=["${PORTAL_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""
    documents: int = Field(default=500, ge=1, examples=[100])
    """Maximum number of documents and removals in one request."""
    size: Annotated[Size, Field(ge=1)] = Field(default=5 << 20, examples=["1 MB"])
    """Maximum bytes in one request. A larger document is sent alone."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds after which a request without response is given up."""
    retry: Seconds = Field(default=60.0, examples=[300])
    """Seconds for which a request is retried after a temporary error."""
    networks: Annotated[tuple[Network, ...], one_or_list(Network)] = Field(
        default=(), examples=[["10.1.0.0/16"]]
    )
    """Private networks that may be connected to. Other private, loopback and link-local addresses are refused."""

    @model_validator(mode="after")
    def _has_place(self) -> Self:
        needed = {"jsonl": "path", "http": "url", **dict.fromkeys(SEARCH_ENGINES, "url")}.get(self.type)
        if needed and getattr(self, needed) is None:
            raise mistake(f"`{needed}` is missing, which the type `{self.type}` needs", f"add `{needed}:`")
        if foreign := sorted(self.model_fields_set - self.own_options - {"type"}):
            raise mistake(f"`{foreign[0]}` has no effect on the type `{self.type}`", "remove it")
        return self

    @property
    def own_options(self) -> frozenset[str]:
        """The valid options for the type."""
        if self.type == "jsonl":
            return frozenset({"path"})
        server = frozenset(type(self).model_fields) - {"type", "path", "options", "secrets"}
        if self.type in SEARCH_ENGINES:
            return server
        if self.type == "http":
            return server - {"collection", "key", "records"}
        return frozenset({"options", "secrets"})

    def resolve_paths(self, base: Path, instead_of: Path) -> Self:
        """Return the section with its file below `base`, like `StorageSection.resolve_paths`."""
        if self.path is None:
            return self
        return self.model_copy(
            update={"path": StorageSection(path=self.path).resolve_paths(base, instead_of).path}
        )


def _check_database(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise mistake("this is not the URL of a database", "write it as `postgresql://user@host/database`")
    if parts.password is not None or "password" in parts.query:
        raise mistake("the URL contains a password", "write it into `password`, as `${NAME}`")
    return url


class StateSection(StorageSection):
    """The document table and the URL queue of each source."""

    DATABASE_OPTIONS: ClassVar = ("url", "schema_name", "password")

    engine: Annotated[str, PluginName(STORES)] = Field(default="sqlite", examples=["postgresql"])
    """The state store. `memory` keeps nothing after the process ends. `postgresql` needs the extra of its name."""
    path: FilePath = Field(default=Path("var/state"), examples=["var/state"])
    """Folder with one file per source, and one for the sites of all sources."""
    url: Annotated[str, AfterValidator(_check_database)] = Field(
        default="", examples=["postgresql://crawler@db.example.com/crawl?sslmode=verify-full"]
    )
    """The database, for `postgresql` (like all following options), with the options of libpq. Off this machine it
    is encrypted: `sslmode` is `require` unless the URL names `verify-ca` or `verify-full`."""
    schema_name: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")] = Field(
        default="ultracrawl", examples=["intranet"]
    )
    """The schema with the tables of this project."""
    password: Secret | None = Field(default=None, examples=["${STATE_PASSWORD}"])
    """The password of the user in `url`."""

    @model_validator(mode="after")
    def _fits_engine(self) -> Self:
        if self.engine == "postgresql":
            if not self.url:
                raise mistake(
                    "`url` is missing, which the engine `postgresql` needs",
                    "add `url: postgresql://user@host/database`",
                )
            return self
        for option in self.DATABASE_OPTIONS:
            if option in self.model_fields_set:
                raise mistake(f"`{option}` has no effect on the engine `{self.engine}`", "remove it")
        return self


class DocumentsSection(StorageSection):
    """The documents that sources store as configured in their `storage` section."""

    path: FilePath = Field(default=Path("var/documents"), examples=["var/documents"])
    """Folder with the documents of each source."""


class LogsSection(StorageSection):
    """The storage of the logs that sources configure in their `log` section."""

    path: FilePath = Field(default=Path("var/log"), examples=["var/log"])
    """Folder with the logs of each source."""
    size: Size = Field(default=10 << 20, examples=["10 MB"])
    """Maximum size of one log. A full one is kept until the next is full."""


class CacheSection(StorageSection):
    """The persistent cache in which documents wait for the index."""

    path: FilePath = Field(default=Path("var/cache"), examples=["var/cache"])
    """Folder of the cache."""
    size: Size = Field(default=20 << 20, examples=["20 MB"])
    """Size of waiting documents at which they are sent to the index."""
    phases: Literal["one", "two"] = Field(default="one", examples=["two"])
    """`one`: crawl while the index is written. `two`: alternate between crawling and writing the index."""


class ProcessesSection(Section):
    """The processes of concurrent crawls, one per source (`crawl --jobs`, `serve`)."""

    jobs: Annotated[int, Field(ge=1, le=1000)] | None = Field(default=None, examples=[4])
    """Number of slots: concurrent crawls, besides those that only wait. None: available memory / 100 MB, 8 to 64."""
    memory: Annotated[Size, Field(ge=64 << 20)] | None = Field(default=None, examples=["1 GB"])
    """Maximum memory of the process of one crawl. A crawl that would use more is stopped and resumed later. Linux
    only."""
    turn: Interval = Field(default=900.0, examples=["2 h"])
    """Maximum time that a crawl runs while others wait; then it is stopped and queued. None: until it ends."""
    lend_after: Seconds = Field(default=30.0, gt=0, examples=[60])
    """Seconds without an answer after which a crawl lends its slot to one that waits."""
    default_interval: Interval = Field(default=86_400.0, examples=["6 h"])
    """How often `serve` crawls a source with neither a schedule nor an interval of its own. None: never."""

    @property
    def longest_turn(self) -> float:
        """Maximum seconds that a crawl runs while others wait."""
        return float("inf") if self.turn is None else self.turn
