"""What a search engine holds of a document: one record, or one a section."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from math import isfinite

from ultracrawl.index.engine import IndexDocument, Json, url_of_section
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.model.page import Section
from ultracrawl.rules.access.readers import named_readers

LEVELS = 7
"""Levels of titles in a record: that of the document, and of the headings above its text."""


def document_key(source: str, url: str) -> str:
    """Return the id of a document: 32 hexadecimal digits, which every engine takes as an id."""
    return sha256(f"{source}\n{url}".encode(errors="replace")).hexdigest()[:32]


def records_of(document: IndexDocument, *, by_section: bool) -> Iterator[dict[str, Json]]:
    """Yield the record of a document, or one for each section that has a text or a heading, in their order.

    A text that may not be shown (`nosnippet`) is left out, because engines show what they find.
    """
    key = document_key(document.source, document.url)
    record: dict[str, Json] = {
        "id": key,
        "document": key,
        "source": document.source,
        "url": document.url,
        "title": document.title,
        "acl": list[Json](named_readers(document.acl)),
        "public": not document.acl,
        "depth": document.depth,
        "attributes": {name: list(map(_value, values)) for name, values in document.attributes.items()},
    }
    if not by_section:
        yield record | {"text": "" if document.secret_text else document.text}
        return
    for number, (titles, section, text) in enumerate(_parts(document)):
        yield record | {
            "id": f"{key}-{number}",
            "url": document.url if section is None else url_of_section(document.url, section),
            "url_without_anchor": document.url,
            "anchor": "" if section is None else section.anchor,
            "position": number,
            "type": "content" if text else f"lvl{len(titles) - 1}",
            "hierarchy": {f"lvl{level}": title for level, title in enumerate(titles)},
            "content": "" if document.secret_text else text,
        }


def _parts(document: IndexDocument) -> Iterator[tuple[list[str], Section | None, str]]:
    """Yield the titles above each part of the text, its section, and its text without the heading."""
    sections, text = document.sections, document.text
    first = text[: sections[0].offset if sections else len(text)].strip()
    yield [document.title], None, first
    above: list[Section] = []
    for number, section in enumerate(sections):
        above = [*(one for one in above if one.level < section.level), section]
        end = sections[number + 1].offset if number + 1 < len(sections) else len(text)
        start = section.offset + (len(section.title) if section.matches_text(text) else 0)
        titles = [one.title for one in above if one.title and one.title != document.title]
        yield [document.title, *titles][:LEVELS], section, text[start:end].strip()


def _value(value: AttributeValue) -> Json:
    """Return a value as every engine can compare it: a date as seconds since the epoch."""
    if isinstance(value, datetime):
        return int(as_utc(value).timestamp())
    return str(value) if isinstance(value, float) and not isfinite(value) else value
