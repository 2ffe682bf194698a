"""An agent whose documents stand in an XML file: what the bulk loader of Ultra Search loads as documents (5.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ultracrawl.agents.agent.crawler_agent import (
    AgentError,
    AgentParameter,
    CrawlerAgent,
    ParameterValue,
    UrlData,
)
from ultracrawl.rules.attributes.list_file import ListFileError, read_whole

PATH = "ultracrawl.agents.DocumentFile"
"""What a definition calls the class."""
_PARENTS = {
    "documents": "",
    "document": "documents",
    "attribute": "document",
    "text": "document",
    "acl": "document",
}
_SAID = frozenset({"url", "access_url", "key", "title", "language"})


class DocumentFile(CrawlerAgent):
    """Names every document of a file; one that is in it no more is gone."""

    parameters: ClassVar = (AgentParameter("file", "the XML file of the documents", required=True),)

    def open(self, params: Mapping[str, ParameterValue]) -> None:
        """Read the file as a whole: one with a mistake names nothing."""
        path = self.definition_folder / str(params["file"])
        try:
            self._documents: Iterator[UrlData] = iter(read_documents(path.read_bytes()))
        except OSError as error:
            raise AgentError(f"{path} cannot be read: {error.strerror}") from error
        except ListFileError as error:
            raise AgentError(f"{path}: {error}") from error

    def fetch(self) -> UrlData | None:
        """Return the next document."""
        return next(self._documents, None)


def read_documents(data: bytes) -> list[UrlData]:
    """Return the documents of a file in their order.

    The form is `<document url="https://www.example.com/a" title="A"><text>Words.</text>
    <attribute name="Author">Lee</attribute></document>`; several of them stand below `<documents>`. Raises
    `ListFileError`.
    """
    reader = _Reader()
    read_whole(data, reader)
    if not reader.documents:
        raise ListFileError(
            'the file has no document: write `<document url="..."><text>...</text></document>`'
        )
    return reader.documents


class _Reader:
    """Listens to the elements of a file."""

    def __init__(self) -> None:
        self.documents: list[UrlData] = []
        self.place = "the beginning"
        self._path = [""]
        self._said: Mapping[str, str] = {}
        self._name = ""
        self._attributes: dict[str, list[str]] = {}
        self._acl: list[str] = []
        self._text = ""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Take the start of an element."""
        if _PARENTS.get(name) != self._path[-1]:
            raise ListFileError(f"<{name}> is unknown, or stands in the wrong place, after {self.place}")
        self._path.append(name)
        if name == "document":
            self._begin_document(attributes)
        elif name == "attribute":
            self._name = attributes.get("name", "").strip()
            if not self._name:
                raise ListFileError(f"an <attribute> of {self.place} has no `name`")
        return True

    def _begin_document(self, said: Mapping[str, str]) -> None:
        self._said = {name: value.strip() for name, value in said.items()}
        if not self._said.get("url"):
            raise ListFileError(f"a <document> has no `url`, after {self.place}")
        self.place = f"the document {self._said['url']}"
        if unknown := sorted(self._said.keys() - _SAID):
            raise ListFileError(f"{self.place} has `{unknown[0]}`; there are {', '.join(sorted(_SAID))}")
        self._attributes, self._acl, self._text = {}, [], ""

    def end_element(self, name: str, text: str) -> None:
        """Take the end of an element."""
        self._path.pop()
        match name:
            case "attribute":
                self._attributes.setdefault(self._name, []).append(text.strip())
            case "acl":
                self._acl.append(text.strip())
            case "text":
                self._text = text.strip()
            case "document":
                self.documents.append(self._document())

    def _document(self) -> UrlData:
        said = self._said
        return UrlData(
            said["url"],
            access_url=said.get("access_url", ""),
            doc_key=said.get("key", ""),
            title=said.get("title", ""),
            language=said.get("language", ""),
            text=self._text,
            acl=tuple(self._acl),
            attributes=self._attributes,
        )
