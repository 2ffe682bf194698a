"""What an agent is made from: the class to subclass, and the values that it gives and gets (Ultra Search 8)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import ClassVar, TypeAlias, TypeVar

from ultracrawl.errors import WorkError

T = TypeVar("T")
Answer: TypeAlias = T | Awaitable[T]
"""What a method may return: the value, or (`async def`) the promise of it."""
AttributeValue = str | int | float | date | datetime
ParameterValue = str | int | float | bool | None | Sequence["ParameterValue"] | Mapping[str, "ParameterValue"]


class AgentError(WorkError):
    """The source cannot be read. The run fails with this text, in one line."""


@dataclass(frozen=True, slots=True)
class AgentParameter:
    """A parameter that a source gives its agent a value of, under `parameters:`."""

    name: str
    description: str = ""
    secret: bool = False
    """Its value may stand elsewhere (`${NAME}`, `file:PATH`, encrypted), and is shown nowhere."""
    required: bool = False


@dataclass(frozen=True, slots=True)
class UrlData:
    """One document of the source. With `text` or `body` it is delivered; else it is fetched from its URL."""

    display_url: str
    """Where hits lead. Unique in the source."""
    _: KW_ONLY
    access_url: str = ""
    """What is fetched, where that is another URL: http, https or ftp."""
    doc_key: str = ""
    """What the source knows the document by, if that outlives its URLs. Of delivered documents alone."""
    title: str = ""
    text: str = ""
    """The words of the document, without mark-up."""
    body: bytes = b""
    """The document as a file; it is converted as one from a web site is."""
    content_type: str = ""
    """The media type of `body`, as `text/html; charset=utf-8`. Empty: judged by the bytes."""
    language: str = ""
    deleted: bool = False
    """The document is gone from the source; nothing but its URL or key is needed."""
    parse_doc: bool = False
    """What the document says of itself (title, META) counts, too, where nothing stands here."""
    acl: Sequence[str] = ()
    """The users and groups that may see it; none: everybody."""
    owner: str = ""
    owner_format: str = ""
    attributes: Mapping[str, AttributeValue | Sequence[AttributeValue]] = field(default_factory=dict)
    """Document attributes, with one value or several; `attributes:` of the source maps them."""

    def __post_init__(self) -> None:
        """Raise `AgentError` for what is no document."""
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
        """Whether the agent gives the document itself."""
        return bool(self.text or self.body)

    def __str__(self) -> str:
        return self.display_url or self.access_url or self.doc_key


class AttributeLovs:
    """Takes lists of values of attributes from an agent (Ultra Search 5.4)."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, dict[str, str]]] = {}
        """Display names by language, by value, by search attribute."""

    def add_value(
        self, attribute: str, value: AttributeValue, display_name: str = "", language: str = ""
    ) -> None:
        """Add a value of a search attribute, and what people call it: in a language (`en`), or in every one.

        Called again for a value, it adds a name in another language.
        """
        text = value.isoformat() if isinstance(value, date) else str(value)
        names = self.lists.setdefault(attribute, {}).setdefault(text, {})
        if display_name:
            names[language.lower()] = display_name


class CrawlerAgent:
    """Lists the documents of a source that has no kind of its own here. Subclass it, and name it as `class:`.

    Every method may be a plain one or `async def`, and all but `fetch` have a default. They are called in one thread
    that does nothing else, one after the other: `open`, `is_delta_crawling_capable`, `start_crawling`, then `fetch`
    until it returns None, with `received` for each document when it is stored, and at the end `stop_crawling` and
    `close`. Whatever one raises ends the run with its text, and nothing is deleted by a run that ended so; `AgentError`
    is for what you expect to fail.
    """

    parameters: ClassVar[Sequence[AgentParameter]] = ()
    """What a source may say under `parameters:`; anything else there is a mistake."""
    definition_folder = Path()
    """The folder of the definition file, for paths among the parameters; set before `open` is called."""

    def open(self, params: Mapping[str, ParameterValue]) -> Answer[None]:
        """Get ready: called first, once, with the parameters of the source, secrets in clear."""

    def is_delta_crawling_capable(self) -> Answer[bool]:
        """Return True for a smart agent, which names only what changed since a time, and what is gone (`deleted`).

        Of other agents, everything is taken that the source has, and what they do not name any more is gone.
        """
        return False

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> Answer[None]:
        """Prepare to name documents: called once a crawl.

        `last_crawl_time` (UTC) is when the last complete listing began; None: there was none, name everything. After
        an interruption it is the same as before. With `force_recrawl` a smart agent names everything as well.
        """

    def fetch(self) -> Answer[UrlData | None]:
        """Return the next document, None if there is no more. The one method that has to be written."""
        raise NotImplementedError

    def received(self, url_data: UrlData) -> Answer[None]:
        """Take note that a document is stored: it is not lost any more. Called once for each, in their order."""

    def stop_crawling(self) -> Answer[None]:
        """Take note that no more documents are wanted, also when a crawl is interrupted."""

    def close(self) -> Answer[None]:
        """Release what is held: called last, once."""

    def get_attribute_lovs(self, lovs: AttributeLovs) -> Answer[bool]:
        """Add lists of values to `lovs` and return True; False: there are none. Asked once a crawl."""
        return False

    def get_credential(self, host: str, realm: str, url: str) -> Answer[tuple[str, str] | None]:
        """Return user and password for a URL whose server asks for them; None: there are none."""
        return None
