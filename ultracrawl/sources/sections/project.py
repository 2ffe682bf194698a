"""Where a project keeps its data: index, state and document cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from ultracrawl.sources.durations import Interval
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.fetching.request import SiteHeader
from ultracrawl.sources.sections.schedules import OptimiseSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Network, PluginName, Seconds, Size, is_site, one_or_list
from ultracrawl.system.plugins import DESTINATIONS, ENGINES, STORES


def is_web_url(url: str) -> bool:
    """Return whether a URL is that of a web server, without a user and a password."""
    return is_site(url) and not url.lower().startswith("ftp")


def check_web_url(url: str) -> str:
    """Return the URL of a web server. Raises a mistake for anything else."""
    if not is_web_url(url):
        raise mistake(
            "this is not the URL of a web server", "write it in full, as `https://www.example.com/documents`"
        )
    return url


class StorageSection(Section):
    """A place for data; may be written as its path alone."""

    path: Path

    @model_validator(mode="before")
    @classmethod
    def _path_alone(cls, data: Any) -> Any:
        return {"path": data} if isinstance(data, str) and data.strip() else data

    def below(self, base: Path, instead_of: Path) -> Self:
        """Return the section with its path below `base`, if it is a relative one, or below another folder."""
        path = self.path.expanduser()
        inner = path.relative_to(instead_of) if path.is_relative_to(instead_of) else path
        return self.model_copy(update={"path": base / inner})


class IndexSection(StorageSection):
    """The full-text index, one for all sources of a project."""

    engine: Annotated[str, PluginName(ENGINES)] = Field(default="whoosh", examples=["whoosh"])
    """The index engine. `tantivy` needs the extra of this name."""
    path: Path = Field(default=Path("var/index"), examples=["var/index"])
    """Folder of the index."""
    every: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(default=None, examples=[1800])
    """Seconds after which what was fetched is handed over, however little. None: when it is worth it."""
    boosts: Mapping[str, Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]] = Field(
        default={}, examples=[{"https://www.example.com/": 3, "https://www.example.com/old/*": 0.5}]
    )
    """Factors for the scores of URLs, or of all that begin so, with a trailing `*`."""
    optimise: OptimiseSection | None = Field(default=None, examples=[{"cron": "0 4 * * sun", "limit": "1 h"}])
    """When its segments are merged and the space of deleted documents is freed. None: whenever it is worth it."""
    anchors: bool = Field(default=True, examples=[False])
    """Index what links to a document are called on other pages of its source; such words count double."""


class FurtherIndex(StorageSection):
    """An index beside that of the project, which sources feed by naming it; may be written as its path alone."""

    engine: Annotated[str, PluginName(ENGINES)] = Field(default="whoosh", examples=["tantivy"])
    """The index engine. `tantivy` needs the extra of this name."""
    path: Path = Field(examples=["var/archive"])
    """Folder of the index."""


class DestinationSection(Section):
    """Something that gets documents and is no index of ours: what of the options counts depends on its type."""

    type: Annotated[str, PluginName(DESTINATIONS)] = Field(examples=["http"])
    """`jsonl`: a file with one JSON object a line. `http`: a web server that gets such lines by POST."""
    path: Path | None = Field(default=None, examples=["var/export.jsonl"])
    """The file, for `jsonl`."""
    url: Annotated[str, AfterValidator(check_web_url)] | None = Field(
        default=None, examples=["https://portal.example.com/documents"]
    )
    """Where documents are sent, for `http` (and all that follows)."""
    headers: Mapping[SiteHeader, Secret] = Field(
        default={}, repr=False, examples=[{"Authorization": "${PORTAL_TOKEN}"}]
    )
    """Headers of every request; values may be secrets."""
    user: str = Field(default="", examples=["crawler"])
    """The user, sent at once by the scheme Basic."""
    password: Secret | None = Field(default=None, examples=["${PORTAL_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""
    documents: int = Field(default=500, ge=1, examples=[100])
    """Most documents and removals in one request."""
    size: Annotated[Size, Field(ge=1)] = Field(default=5 << 20, examples=["1 MB"])
    """Most bytes in one request; a larger document goes alone."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds for one request and its answer."""
    retry: Seconds = Field(default=60.0, examples=[300])
    """Seconds for which a request is sent again that failed for a reason that may pass."""
    networks: Annotated[tuple[Network, ...], one_or_list(Network)] = Field(
        default=(), examples=[["10.1.0.0/16"]]
    )
    """Private networks that may be connected to. Private, loopback and link-local addresses are refused otherwise."""

    options: Mapping[str, JsonValue] = Field(default={}, examples=[{"queue": "documents"}])
    """The options of a type that a plug-in brings."""

    @model_validator(mode="after")
    def _has_place(self) -> DestinationSection:
        needed = {"jsonl": "path", "http": "url"}.get(self.type)
        if needed and getattr(self, needed) is None:
            raise mistake(f"`{needed}` is missing, which the type `{self.type}` needs", f"add `{needed}:`")
        if foreign := sorted(self.model_fields_set - self.own_options - {"type"}):
            raise mistake(f"`{foreign[0]}` has no effect on the type `{self.type}`", "remove it")
        return self

    @property
    def own_options(self) -> frozenset[str]:
        """The options that count for the type."""
        if self.type == "jsonl":
            return frozenset({"path"})
        if self.type == "http":
            return frozenset(type(self).model_fields) - {"type", "path", "options"}
        return frozenset({"options"})

    def below(self, base: Path, instead_of: Path) -> Self:
        """Return the section with its file below `base`, as `StorageSection.below` does."""
        if self.path is None:
            return self
        return self.model_copy(update={"path": StorageSection(path=self.path).below(base, instead_of).path})


class StateSection(StorageSection):
    """The document table and the URL queue of each source."""

    engine: Annotated[str, PluginName(STORES)] = Field(default="sqlite", examples=["sqlite"])
    """The state store. `memory` keeps nothing after the process ends."""
    path: Path = Field(default=Path("var/state"), examples=["var/state"])
    """Folder with one file for each source, and one for the sites of all."""


class DocumentsSection(StorageSection):
    """The documents that sources keep with their own `storage` section."""

    path: Path = Field(default=Path("var/documents"), examples=["var/documents"])
    """Folder with the documents of each source."""


class LogsSection(StorageSection):
    """Where the logs lie that the `log` section of each source describes."""

    path: Path = Field(default=Path("var/log"), examples=["var/log"])
    """Folder with the logs of each source."""
    size: Size = Field(default=10 << 20, examples=["10 MB"])
    """Largest size of one log; a full one is kept until the next is full."""


class CacheSection(StorageSection):
    """The durable cache in which documents wait for the index."""

    path: Path = Field(default=Path("var/cache"), examples=["var/cache"])
    """Folder of the cache."""
    size: Size = Field(default=20 << 20, examples=["20 MB"])
    """When this much waits, it is handed over to the index."""
    phases: Literal["one", "two"] = Field(default="one", examples=["two"])
    """`one`: crawl while the index is written; `two`: first the one, then the other, in turn."""


class ProcessesSection(Section):
    """The processes of crawls that go on at the same time, one a source (`crawl --jobs`, `serve`)."""

    jobs: Annotated[int, Field(ge=1, le=1000)] | None = Field(default=None, examples=[4])
    """Most crawls at a time. None: one a core of the machine."""
    memory: Annotated[Size, Field(ge=64 << 20)] | None = Field(default=None, examples=["1 GB"])
    """Most memory of the process of one crawl: it is ended before it takes more, and resumed later. Linux only."""
    turn: Interval = Field(default=900.0, examples=["2 h"])
    """How long a crawl that others wait for goes on before it makes room. None: to its end."""

    @property
    def longest_turn(self) -> float:
        """Seconds for which a crawl goes on that others wait for."""
        return float("inf") if self.turn is None else self.turn
