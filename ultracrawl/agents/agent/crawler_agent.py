"""The base class of agents, and the values that it exchanges with the crawl (Ultra Search 8)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import ClassVar, TypeAlias, TypeVar

from ultracrawl.dataclass import KW_ONLY, dataclass, field
from ultracrawl.errors import WorkError

T = TypeVar("T")
Answer: TypeAlias = T | Awaitable[T]
"""Return type of a method of an agent: the value, or an awaitable of it (`async def`)."""
AttributeValue = str | int | float | date | datetime
ParameterValue = str | int | float | bool | None | Sequence["ParameterValue"] | Mapping[str, "ParameterValue"]


class AgentError(WorkError):
    """The source cannot be read. The run fails with this text, in one line."""


@dataclass(frozen=True, slots=True)
class AgentParameter:
    """A parameter of an agent; sources set it under `parameters:`."""

    name: str
    description: str = ""
    secret: bool = False
    """The value may be a reference (`${NAME}`, `file:PATH`) or encrypted, and is never shown."""
    required: bool = False


@dataclass(frozen=True, slots=True)
class UrlData:
    """One document of the source: delivered by the agent if it has `text` or `body`, else downloaded from its URL."""

    display_url: str
    """The URL that hits link to; unique in the source."""
    _: KW_ONLY
    access_url: str = ""
    """The URL to download (http, https or ftp), if it differs from the display URL."""
    doc_key: str = ""
    """Identifier of the document in the source, if it is more stable than the URLs."""
    title: str = ""
    text: str = ""
    """The text of the document, without mark-up."""
    body: bytes = b""
    """The document as a file; it is converted like one from a web site."""
    content_type: str = ""
    """Media type of `body`, such as `text/html; charset=utf-8`; empty: detected from the bytes."""
    language: str = ""
    deleted: bool = False
    """The document was deleted in the source. Its key, its access URL or its display URL is enough to find it."""
    parse_doc: bool = False
    """Use metadata of the document (title, META) for fields that are empty here."""
    acl: Sequence[str] = ()
    """The users and groups that may see the document; empty: everybody."""
    owner: str = ""
    owner_format: str = ""
    attributes: Mapping[str, AttributeValue | Sequence[AttributeValue]] = field(default_factory=dict)
    """Document attributes, with one or several values; `attributes:` of the source maps them."""

    def __post_init__(self) -> None:
        """Raise `AgentError` if a field is invalid."""
        for name in ("display_url", "access_url", "doc_key", "title", "text", "language", "content_type"):
            if not isinstance(getattr(self, name), str):
                raise AgentError(f"UrlData: {name} has to be a text, not {getattr(self, name)!r}")
        if not isinstance(self.body, bytes):
            raise AgentError(f"UrlData of {self.display_url}: body has to be bytes; give a text as `text`")
        if self.text and self.body:
            raise AgentError(f"UrlData of {self.display_url}: give `text` or `body`, not both")
        if isinstance(self.acl, str):
            raise AgentError(f"UrlData of {self.display_url}: acl has to be a list of names")
        if not (self.display_url or (self.deleted and (self.access_url or self.doc_key))):
            raise AgentError("UrlData: a document needs its display_url")

    @property
    def delivered(self) -> bool:
        """Whether the agent provides the document itself."""
        return bool(self.text or self.body)

    def __str__(self) -> str:
        return self.display_url or self.access_url or self.doc_key


class AttributeLovs:
    """Collects lists of values of attributes from an agent (Ultra Search 5.4)."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, dict[str, str]]] = {}
        """Search attribute -> value -> language -> display name."""

    def add_value(
        self, attribute: str, value: AttributeValue, display_name: str = "", language: str = ""
    ) -> None:
        """Add a value of a search attribute, with its display name in one language (`en`) or in all.

        Call it again for display names of the value in other languages.
        """
        text = value.isoformat() if isinstance(value, date) else str(value)
        names = self.lists.setdefault(attribute, {}).setdefault(text, {})
        if display_name:
            names[language.lower()] = display_name


class CrawlerAgent:
    """Lists the documents of a source whose type is not built in. Subclass it, and name the subclass as `class:`.

    Every method may be a plain method or `async def`; all but `fetch` have a default. They are called one after the
    other in a dedicated thread: `open`, `is_delta_crawling_capable`, `start_crawling`, then `fetch` until it returns
    None, with `received` for each document once it is stored, and finally `stop_crawling` and `close`. Any exception
    ends the run with its text, and such a run deletes nothing; raise `AgentError` for expected failures.
    """

    parameters: ClassVar[Sequence[AgentParameter]] = ()
    """The parameters that a source may set under `parameters:`; others are mistakes."""
    definition_folder = Path()
    """The folder of the definition file, for relative paths in parameters; set before `open` is called."""

    def open(self, params: Mapping[str, ParameterValue]) -> Answer[None]:
        """Get ready. The first call, with the parameters of the source and secrets in clear text."""

    def is_delta_crawling_capable(self) -> Answer[bool]:
        """Return True for a smart agent, which lists only changed and deleted (`deleted`) documents.

        Other agents list all documents; a document that is not listed any more counts as deleted.
        """
        return False

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> Answer[None]:
        """Prepare to list documents; called once per crawl.

        `last_crawl_time` (UTC) is the start of the last complete listing; None: there was none, list everything. After
        an interruption it is the same as before. With `force_recrawl` a smart agent lists everything as well.
        """

    def fetch(self) -> Answer[UrlData | None]:
        """Return the next document, None after the last. The only method without a default."""
        raise NotImplementedError

    def received(self, url_data: UrlData) -> Answer[None]:
        """Note that a document is stored and cannot be lost any more; called once for each, in order."""

    def stop_crawling(self) -> Answer[None]:
        """Note that no more documents are requested, also if the crawl is interrupted."""

    def close(self) -> Answer[None]:
        """Release all resources; the last call."""

    def get_attribute_lovs(self, lovs: AttributeLovs) -> Answer[bool]:
        """Add lists of values to `lovs` and return True, or return False if there are none; called once per crawl."""
        return False

    def get_credential(self, host: str, realm: str, url: str) -> Answer[tuple[str, str] | None]:
        """Return user and password for a URL whose server requires them; None: there are none."""
        return None
