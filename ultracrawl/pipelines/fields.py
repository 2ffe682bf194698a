"""The fields of items: of ours, and of whatever somebody's spider yields."""

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
from ultracrawl.rules.attributes.mapping import listed

if TYPE_CHECKING:
    from itemadapter import ItemAdapter

DOCUMENT_FIELDS = tuple(field.name for field in fields(Document))
CHECKSUM, SEARCH_ATTRIBUTES, ACL = "checksum", "search_attributes", "acl"
_MADE = frozenset({CHECKSUM, SEARCH_ATTRIBUTES})
"""Fields that our pipelines fill."""
_OF_DOCUMENTS = frozenset({"url", "access_url", "title", "text", "attributes", ACL}) | _MADE
"""Fields that are no attributes of a document."""


class DocumentFields(MutableMapping[str, Any]):
    """The fields of a document, as `ItemAdapter` has those of any item; that loads a second pydantic to know them."""

    def __init__(self, item: Document) -> None:
        self.item = item

    def __getitem__(self, name: str) -> Any:
        if name in DOCUMENT_FIELDS:
            return getattr(self.item, name)
        raise KeyError(name)

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
    """Return the fields of an item that pages became, or that somebody's spider yielded."""
    if type(item) is Document:
        return DocumentFields(item)
    from itemadapter import ItemAdapter  # noqa: PLC0415 - slow, and most crawls have documents alone

    return ItemAdapter(item)


def fill_field(item: ItemFields, name: str, value: object) -> bool:
    """Set a field if items of this class can have it, and return whether it is set."""
    with suppress(KeyError, AttributeError, TypeError, ValueError):
        item[name] = value
        return True
    return False


def text_of(value: Any) -> str:
    """Return a value as one text; of a list the texts of its members, of nothing an empty one."""
    return "\n".join(texts_of(value))


def texts_of(value: Any) -> list[str]:
    """Return a value as texts, of a list one for each member; groups and other objects have none."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, date):
        return [value.isoformat()]
    if isinstance(value, int | float | Decimal):
        return [str(value)]
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes | bytearray):
        members = sorted(value, key=str) if isinstance(value, Set) else value
        return [text for one in members for text in texts_of(one)]
    return []


def attributes_of(item: ItemFields) -> dict[str, list[str]]:
    """Return the document attributes of an item: all its own fields, and the members of its `attributes`, which win."""
    found = {name.lower(): texts_of(value) for name, value in item.items() if name not in _OF_DOCUMENTS}
    own = item.get("attributes")
    if isinstance(own, Mapping):
        found.update((str(name).lower(), texts_of(value)) for name, value in own.items())
    return {name: texts for name, texts in found.items() if texts}


def words_of(item: ItemFields) -> str:
    """Return the text of an item; of one without the field `text` the words of its own fields."""
    if "text" in item:
        return text_of(item["text"])
    return "\n".join(
        text for name, value in item.items() if name not in _OF_DOCUMENTS for text in texts_of(value)
    )


def sections_of(item: ItemFields, text: str) -> tuple[Section, ...]:
    """Return the parts of an item that stand in its text: somebody's spider or pipeline may have made that another."""
    found = item.get("sections")
    if not isinstance(found, list | tuple):
        return ()
    return tuple(one for one in found if isinstance(one, Section) and one.matches_text(text))


def readers_of(item: ItemFields) -> list[str]:
    """Return the users and groups that may see an item; none if it does not say.

    Raises `DropItem` for a value that names nobody: a document is not shown to everybody by mistake.
    """
    value = item.get(ACL)
    if value is None:
        return []
    names = [name for name in listed(value) if isinstance(name, str) and name.strip()]
    if len(names) < len(listed(value)):
        raise DropItem(f"its field `{ACL}` is to hold names of users and groups, and has {value!r:.100}")
    return sorted(set(names))


def content_of(item: ItemFields) -> bytes:
    """Return what an item is compared by with the one before: all its fields but those that pipelines of ours fill."""
    from itemadapter import ItemAdapter  # noqa: PLC0415 - as above

    content = {name: value for name, value in ItemAdapter(item.item).asdict().items() if name not in _MADE}
    return json.dumps(_plain(content), sort_keys=True).encode()


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, the same in every process."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, Set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | None) else str(value)
