"""Where a project keeps its data: index, state and document cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Size


class StorageSection(Section):
    """A place for data; may be written as its path alone."""

    path: Path

    @model_validator(mode="before")
    @classmethod
    def _path_alone(cls, data: Any) -> Any:
        return {"path": data} if isinstance(data, str) and data.strip() else data

    def below(self, base: Path) -> dict[str, Path]:
        """Return the change that makes the path absolute; a relative one is taken from `base`."""
        return {"path": base / self.path.expanduser()}


class IndexSection(StorageSection):
    """The full-text index, one for all sources of a project."""

    engine: Literal["whoosh", "tantivy", "memory"] = Field(
        default="whoosh",
        description="The index engine. `tantivy` needs the extra of this name; `memory` keeps nothing on disk.",
        examples=["whoosh"],
    )
    path: Path = Field(default=Path("var/index"), description="Folder of the index.", examples=["var/index"])
    every: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Seconds after which what was fetched is handed over, however little. None: when it is worth it.",
        examples=[1800],
    )
    boosts: Mapping[str, Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]] = Field(
        default={},
        description="Factors for the scores of URLs, or of all that begin so, with a trailing `*`.",
        examples=[{"https://www.example.com/": 3, "https://www.example.com/old/*": 0.5}],
    )
    anchors: bool = Field(
        default=True,
        description="Index what links to a document are called on other pages of its source; such words count double.",
        examples=[False],
    )


class FurtherIndex(StorageSection):
    """An index beside that of the project, which sources feed by naming it; may be written as its path alone."""

    engine: Literal["whoosh", "tantivy"] = Field(
        default="whoosh",
        description="The index engine. `tantivy` needs the extra of this name.",
        examples=["tantivy"],
    )
    path: Path = Field(description="Folder of the index.", examples=["var/archive"])


class StateSection(StorageSection):
    """The document table and the URL queue of each source."""

    engine: Literal["sqlite", "memory"] = Field(
        default="sqlite",
        description="The state store. `memory` keeps nothing after the process ends.",
        examples=["sqlite"],
    )
    path: Path = Field(
        default=Path("var/state"), description="Folder with one file for each source.", examples=["var/state"]
    )


class DocumentsSection(StorageSection):
    """The documents that sources keep with their own `storage` section."""

    path: Path = Field(
        default=Path("var/documents"),
        description="Folder with the documents of each source.",
        examples=["var/documents"],
    )


class LogsSection(StorageSection):
    """Where the logs lie that the `log` section of each source describes."""

    path: Path = Field(
        default=Path("var/log"), description="Folder with the logs of each source.", examples=["var/log"]
    )
    size: Size = Field(
        default=10 << 20,
        description="Largest size of one log; a full one is kept until the next is full.",
        examples=["10 MB"],
    )


class CacheSection(StorageSection):
    """The durable cache in which documents wait for the index."""

    path: Path = Field(default=Path("var/cache"), description="Folder of the cache.", examples=["var/cache"])
    size: Size = Field(
        default=20 << 20,
        description="When this much waits, it is handed over to the index.",
        examples=["20 MB"],
    )
    phases: Literal["one", "two"] = Field(
        default="one",
        description="`one`: crawl while the index is written; `two`: first the one, then the other, in turn.",
        examples=["two"],
    )
