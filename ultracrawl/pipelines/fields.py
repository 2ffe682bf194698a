"""Access to the fields of items: of `Document`s and of the items of user spiders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping, Sequence, Set
from contextlib import suppress
from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from scrapy.exceptions import DropItem

from ultracrawl.model import Document, Section
from ultracrawl.model.page import SECTION_LEVELS
from ultracrawl.rules.attributes.mapping import listed

if TYPE_CHECKING:
    from itemadapter import ItemAdapter

DOCUMENT_FIELDS = tuple(field.name for field in fields(Document))
CHECKSUM, SEARCH_ATTRIBUTES, ACL = "checksum", "search_attributes", "acl"
_FILLED_BY_PIPELINES = frozenset({CHECKSUM, SEARCH_ATTRIBUTES})
_NOT_ATTRIBUTES = frozenset({"url", "access_url", "title", "text", "attributes", ACL}) | _FILLED_BY_PIPELINES
"""Fields that are not document attributes."""


class DocumentFields(MutableMapping[str, Any]):
    """The fields of a document with the interface of `ItemAdapter`, whose import would load a second pydantic."""

    def __init__(self, item: Document) -> None:
        self.item = item

    def __getitem__(self, name: str) -> Any:
        if name in DOCUMENT_FIELDS:
            return getattr(self.item, name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default if documents have no such field."""
        return getattr(self.item, name, default) if name in DOCUMENT_FIELDS else default

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in DOCUMENT_FIELDS:
            raise KeyError(name)
        setattr(self.item, name, value)

    def __delitem__(self, name: str) -> None:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(DOCUMENT_FIELDS)

    def __len__(self) -> int:
        return len(DOCUMENT_FIELDS)


ItemFields: TypeAlias = "DocumentFields | ItemAdapter"


def fields_of(item: Any) -> ItemFields:
    """Return the fields of an item."""
    if type(item) is Document:
        return DocumentFields(item)
    from itemadapter import ItemAdapter  # noqa: PLC0415 - slow to import, and most crawls only have documents

    return ItemAdapter(item)


def fill_field(item: ItemFields, name: str, value: object) -> bool:
    """Set a field if the class of the item has it; return whether it was set."""
    with suppress(KeyError, AttributeError, TypeError, ValueError):
        item[name] = value
        return True
    return False


def text_of(value: Any) -> str:
    """Return a value as one string; members of a list are joined by line breaks, None becomes an empty string."""
    return "\n".join(texts_of(value))


def texts_of(value: Any) -> list[str]:
    """Return a value as strings, one for each member of a list; mappings and other objects have none."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, date):
        return [value.isoformat()]
    if isinstance(value, int | float | Decimal):
        return [str(value)]
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray):
        members = sorted(value, key=str) if isinstance(value, Set) else value
        return [text for member in members for text in texts_of(member)]
    return []


def attributes_of(item: ItemFields) -> dict[str, list[str]]:
    """Return the document attributes of an item: its additional fields and its `attributes`, which take precedence."""
    attributes = {
        name.lower(): texts_of(value) for name, value in item.items() if name not in _NOT_ATTRIBUTES
    }
    own = item.get("attributes")
    if isinstance(own, Mapping):
        attributes.update((str(name).lower(), texts_of(value)) for name, value in own.items())
    return {name: texts for name, texts in attributes.items() if texts}


def full_text_of(item: ItemFields) -> str:
    """Return the field `text` of an item; without it, the text of its additional fields."""
    if "text" in item:
        return text_of(item["text"])
    return "\n".join(
        text for name, value in item.items() if name not in _NOT_ATTRIBUTES for text in texts_of(value)
    )


def sections_of(item: ItemFields, text: str) -> tuple[Section, ...]:
    """Return the sections of an item that its text contains: a user spider or pipeline may have changed the text.

    Titles that are texts of links are not in the text; these sections are kept if the text has all headings.
    """
    sections = item.get("sections")
    if not sections or not isinstance(sections, list | tuple):
        return ()
    found = [section for section in sections if isinstance(section, Section)]
    kept = [section for section in found if section.matches_text(text)]
    if kept and len(kept) < len(found):
        headings = sum(section.level < SECTION_LEVELS for section in found)
        if sum(section.level < SECTION_LEVELS for section in kept) == headings:
            kept = [section for section in found if section.offset < len(text)]
    return tuple(kept)


def readers_of(item: ItemFields) -> list[str]:
    """Return the users and groups that may see an item (field `acl`), sorted; an empty list without the field.

    Raises `DropItem` for other values, so that a mistake does not make a document public.
    """
    value = item.get(ACL)
    if value is None or value == []:
        return []
    given = listed(value)
    names = [name for name in given if isinstance(name, str) and name.strip()]
    if len(names) < len(given):
        raise DropItem(
            f"its field `{ACL}` must contain only names of users and groups, but is {value!r:.100}"
        )
    return sorted(set(names))


def content_bytes(item: ItemFields) -> bytes:
    """Return the bytes for the checksum of an item: all fields but those that the pipelines fill."""
    from itemadapter import ItemAdapter  # noqa: PLC0415 - slow to import, and most crawls only have documents

    values = ItemAdapter(item.item).asdict()
    content = {name: value for name, value in values.items() if name not in _FILLED_BY_PIPELINES}
    return json.dumps(_as_json(content), sort_keys=True).encode()


def _as_json(value: Any) -> Any:
    """Return a value as JSON data that is the same in every process."""
    if isinstance(value, Mapping):
        return {str(name): _as_json(member) for name, member in value.items()}
    if isinstance(value, Set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_as_json(member) for member in value]
    return value if isinstance(value, str | int | float | None) else str(value)
