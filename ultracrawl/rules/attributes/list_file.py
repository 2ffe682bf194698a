"""The XML file by which lists of values are loaded in bulk (Ultra Search 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ultracrawl.content.xml import XmlEvents, XmlRefusedError, read_xml
from ultracrawl.rules.attributes.schema import AttributeType, ListedValue, ValueList

LARGEST = 64 << 20
"""Bytes of a file that is read."""
_PARENTS = {"value": ("attribute",), "display": ("value",), "attribute": (None, "lists", "metadata")}


class ListFileError(ValueError):
    """The file cannot be used; the text says what is wrong, and where."""


class BulkReader(XmlEvents, Protocol):
    """Listens to the elements of a file that is loaded in bulk; may raise `ListFileError`."""

    place: str
    """What was read last, for who looks for a mistake."""


def read_value_lists(data: bytes) -> list[tuple[ValueList, AttributeType | None]]:
    """Return the lists of a file in their order, each with the type that the file states.

    The form is `<attribute name="country" type="string"><value v="de"><display lang="en">Germany</display></value>
    </attribute>`, several of them below `<lists>`. A file is taken as a whole or not at all: raises
    `ListFileError`, also for a file with a DTD.
    """
    reader = _Reader()
    read_whole(data, reader)
    if not reader.lists:
        raise ListFileError("the file has no list: write `<attribute name=...>` with `<value v=...>` in it")
    return reader.lists


def read_whole(data: bytes, reader: BulkReader) -> None:
    """Read a file to its end. Raises `ListFileError` if it is too large, broken, or has a DTD."""
    if len(data) > LARGEST:
        raise ListFileError(f"the file has more than {LARGEST >> 20} MB")
    try:
        problem = read_xml(data, reader)
    except XmlRefusedError as error:
        raise ListFileError(f"{error}; it is not read") from None
    if problem:
        raise ListFileError(f"the file is broken after {reader.place}: {problem}")


class _Reader:
    """Listens to the elements of a file."""

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
        """Take the start of an element."""
        parent = self._path[-1] if self._path else None
        if name in _PARENTS and parent not in _PARENTS[name]:
            raise ListFileError(f"<{name}> stands in the wrong place, after {self.place}")
        if name not in _PARENTS and (parent is not None or name not in ("lists", "metadata")):
            raise ListFileError(f"<{name}> is unknown, after {self.place}")
        self._path.append(name)
        if name == "attribute":
            self._begin_list(attributes)
        elif name == "value":
            self._value = _needed(attributes, "v", f"a <value> of {self._name}")
            self._values.setdefault(self._value, {})
            self.place = f"the value `{self._value}` of {self._name}"
        elif name == "display":
            self._language = attributes.get("lang", "").strip().lower()
        return True

    def _begin_list(self, attributes: Mapping[str, str]) -> None:
        self._name = _needed(attributes, "name", "an <attribute>")
        self.place = f"the attribute {self._name}"
        kind = attributes.get("type", "").strip().lower()
        if kind and kind not in set(AttributeType):
            raise ListFileError(f"the type `{kind}` of {self._name} is none of string, number and date")
        self._type = AttributeType(kind) if kind else None
        self._values = {}

    def end_element(self, name: str, text: str) -> None:
        """Take the end of an element."""
        self._path.pop()
        if name == "display":
            shown = " ".join(text.split())
            if not shown:
                raise ListFileError(f"a display name of {self.place} is empty")
            self._values[self._value][self._language] = shown
        elif name == "attribute":
            values = tuple(ListedValue(value, names) for value, names in self._values.items())
            self.lists.append((ValueList(self._name, values), self._type))


def _needed(attributes: Mapping[str, str], name: str, element: str) -> str:
    value = attributes.get(name, "").strip()
    if not value:
        raise ListFileError(f"{element} has no `{name}`")
    return value
