"""The fields of items: of ours, and of whatever somebody's spider yields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from ultracrawl.model import Section
from ultracrawl.rules.attributes.mapping import listed

CHECKSUM, SEARCH_ATTRIBUTES, ACL = "checksum", "search_attributes", "acl"
_MADE = frozenset({CHECKSUM, SEARCH_ATTRIBUTES})
"""Fields that our pipelines fill."""
_OF_DOCUMENTS = frozenset({"url", "access_url", "title", "text", "attributes", ACL}) | _MADE
"""Fields that are no attributes of a document."""


def fill_field(item: ItemAdapter, name: str, value: object) -> bool:
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


def attributes_of(item: ItemAdapter) -> dict[str, list[str]]:
    """Return the document attributes of an item: all its own fields, and the members of its `attributes`, which win."""
    found = {name.lower(): texts_of(value) for name, value in item.items() if name not in _OF_DOCUMENTS}
    own = item.get("attributes")
    if isinstance(own, Mapping):
        found.update((str(name).lower(), texts_of(value)) for name, value in own.items())
    return {name: texts for name, texts in found.items() if texts}


def words_of(item: ItemAdapter) -> str:
    """Return the text of an item; of one without the field `text` the words of its own fields."""
    if "text" in item:
        return text_of(item["text"])
    return "\n".join(
        text for name, value in item.items() if name not in _OF_DOCUMENTS for text in texts_of(value)
    )


def sections_of(item: ItemAdapter, text: str) -> tuple[Section, ...]:
    """Return the parts of an item that stand in its text: somebody's spider or pipeline may have made that another."""
    found = item.get("sections")
    if not isinstance(found, list | tuple):
        return ()
    return tuple(one for one in found if isinstance(one, Section) and one.stands_in(text))


def readers_of(item: ItemAdapter) -> list[str]:
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


def content_of(item: ItemAdapter) -> bytes:
    """Return what an item is compared by with the one before: all its fields but those that pipelines of ours fill."""
    content = {name: value for name, value in item.asdict().items() if name not in _MADE}
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
