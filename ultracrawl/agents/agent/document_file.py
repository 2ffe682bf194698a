"""An agent that reads documents from an XML file, in the format of the bulk loader of Ultra Search (5.4)."""

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
"""The dotted path of `DocumentFile` in definitions."""
_PARENTS = {
    "documents": "",
    "document": "documents",
    "attribute": "document",
    "text": "document",
    "acl": "document",
}
_DOCUMENT_ATTRIBUTES = frozenset({"url", "access_url", "key", "title", "language"})


class DocumentFile(CrawlerAgent):
    """Lists all documents of a file; documents removed from the file count as deleted."""

    parameters: ClassVar = (AgentParameter("file", "the XML file of the documents", required=True),)

    def open(self, params: Mapping[str, ParameterValue]) -> None:
        """Read the whole file: one with a mistake lists nothing."""
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

    The format is `<document url="https://www.example.com/a" title="A"><text>Words.</text>
    <attribute name="Author">Lee</attribute></document>` below a `<documents>` element. Raises `ListFileError`.
    """
    reader = _Reader()
    read_whole(data, reader)
    if not reader.documents:
        raise ListFileError(
            'the file has no document: write `<document url="..."><text>...</text></document>`'
        )
    return reader.documents


class _Reader:
    """Handles the elements of a file, and collects its documents."""

    def __init__(self) -> None:
        self.documents: list[UrlData] = []
        self.place = "the beginning"
        """Where the reader is, for messages."""
        self._path = [""]
        self._document_attributes: Mapping[str, str] = {}
        self._name = ""
        self._attributes: dict[str, list[str]] = {}
        self._acl: list[str] = []
        self._text = ""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element."""
        if _PARENTS.get(name) != self._path[-1]:
            raise ListFileError(f"<{name}> is unknown, or is in the wrong place, after {self.place}")
        self._path.append(name)
        if name == "document":
            self._begin_document(attributes)
        elif name == "attribute":
            self._name = attributes.get("name", "").strip()
            if not self._name:
                raise ListFileError(f"an <attribute> of {self.place} has no `name`")
        return True

    def _begin_document(self, attributes: Mapping[str, str]) -> None:
        self._document_attributes = {name: value.strip() for name, value in attributes.items()}
        if not self._document_attributes.get("url"):
            raise ListFileError(f"a <document> has no `url`, after {self.place}")
        self.place = f"the document {self._document_attributes['url']}"
        if unknown := sorted(self._document_attributes.keys() - _DOCUMENT_ATTRIBUTES):
            known = ", ".join(sorted(_DOCUMENT_ATTRIBUTES))
            raise ListFileError(f"{self.place} has `{unknown[0]}`; there are {known}")
        self._attributes, self._acl, self._text = {}, [], ""

    def end_element(self, name: str, text: str) -> None:
        """Handle the end of an element."""
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
        attributes = self._document_attributes
        return UrlData(
            attributes["url"],
            access_url=attributes.get("access_url", ""),
            doc_key=attributes.get("key", ""),
            title=attributes.get("title", ""),
            language=attributes.get("language", ""),
            text=self._text,
            acl=tuple(self._acl),
            attributes=self._attributes,
        )
