"""The XML file of lists of values (Ultra Search 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ultracrawl.content.xml import XmlEvents, XmlRefusedError, read_xml
from ultracrawl.rules.attributes.schema import AttributeType, ListedValue, ValueList

MAX_FILE_BYTES = 64 << 20
"""Maximum size of a file in bytes."""
_PARENTS = {"value": ("attribute",), "display": ("value",), "attribute": (None, "lists", "metadata")}


class ListFileError(ValueError):
    """The file cannot be used; the text says what is wrong and where."""


class BulkReader(XmlEvents, Protocol):
    """Handler of the XML elements of a file; may raise `ListFileError`."""

    place: str
    """The element read last, for error messages."""


def read_value_lists(data: bytes) -> list[tuple[ValueList, AttributeType | None]]:
    """Parse a file of lists; returns the lists in their order, each with its type in the file.

    The form is `<attribute name="country" type="string"><value v="de"><display lang="en">Germany</display></value>
    </attribute>`, several of them in `<lists>`. Raises `ListFileError` for any mistake, and for a file with a DTD.
    """
    reader = _Reader()
    read_whole(data, reader)
    if not reader.lists:
        raise ListFileError("the file has no list: write `<attribute name=...>` with `<value v=...>` in it")
    return reader.lists


def read_whole(data: bytes, reader: BulkReader) -> None:
    """Parse a file completely. Raises `ListFileError` if it is too large, broken, or has a DTD."""
    if len(data) > MAX_FILE_BYTES:
        raise ListFileError(f"the file has more than {MAX_FILE_BYTES >> 20} MB")
    try:
        problem = read_xml(data, reader)
    except XmlRefusedError as error:
        raise ListFileError(f"{error}; it is not read") from None
    if problem:
        raise ListFileError(f"the file is broken after {reader.place}: {problem}")


class _Reader:
    """Handler of the XML elements."""

    def __init__(self) -> None:
        self.lists: list[tuple[ValueList, AttributeType | None]] = []
        self.place = "the beginning"
        self._path: list[str] = []
        self._name = ""
        self._type: AttributeType | None = None
        self._values: dict[str, dict[str, str]] = {}
        self._value = ""
        self._language = ""

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element."""
        parent = self._path[-1] if self._path else None
        if name in _PARENTS and parent not in _PARENTS[name]:
            raise ListFileError(f"<{name}> is in the wrong place, after {self.place}")
        if name not in _PARENTS and (parent is not None or name not in ("lists", "metadata")):
            raise ListFileError(f"<{name}> is unknown, after {self.place}")
        self._path.append(name)
        if name == "attribute":
            self._begin_list(attributes)
        elif name == "value":
            self._value = _require(attributes, "v", f"a <value> of {self._name}")
            self._values.setdefault(self._value, {})
            self.place = f"the value `{self._value}` of {self._name}"
        elif name == "display":
            self._language = attributes.get("lang", "").strip().lower()
        return True

    def _begin_list(self, attributes: Mapping[str, str]) -> None:
        self._name = _require(attributes, "name", "an <attribute>")
        self.place = f"the attribute {self._name}"
        kind = attributes.get("type", "").strip().lower()
        if kind and kind not in set(AttributeType):
            raise ListFileError(f"the type `{kind}` of {self._name} is none of string, number and date")
        self._type = AttributeType(kind) if kind else None
        self._values = {}

    def end_element(self, name: str, text: str) -> None:
        """Handle the end of an element."""
        self._path.pop()
        if name == "display":
            display_name = " ".join(text.split())
            if not display_name:
                raise ListFileError(f"a display name of {self.place} is empty")
            self._values[self._value][self._language] = display_name
        elif name == "attribute":
            values = tuple(ListedValue(value, names) for value, names in self._values.items())
            self.lists.append((ValueList(self._name, values), self._type))


def _require(attributes: Mapping[str, str], name: str, element: str) -> str:
    value = attributes.get(name, "").strip()
    if not value:
        raise ListFileError(f"{element} has no `{name}`")
    return value
