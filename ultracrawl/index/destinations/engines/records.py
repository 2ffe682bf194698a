"""What a search engine holds of a document: one record, one a section, or those that a DocSearch scraper makes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from math import isfinite
from typing import NamedTuple

from ultracrawl.index.engine import IndexDocument, Json, url_of_section
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.model.page import PERMALINKS, SECTION_LEVELS, Section
from ultracrawl.rules.access.readers import named_readers
from ultracrawl.rules.attributes.schema import DEFAULT_ATTRIBUTES, fields_of, with_fields

LEAST, RANK, TAGS = "min_indexed_level", "page_rank", "tags"
"""Attributes of a document that decide about its records: the first level that has a record of its own (7: none), the
rank of the page, its tags. `lvl0` to `lvl6` are titles for places that no heading fills.
"""
DOCUMENTS, SECTIONS, DOCSEARCH = "documents", "sections", "docsearch"
"""Forms of records."""

FACETS = ("language", "lang", "version", "docusaurus_tag", TAGS)
"""Fields of the records of scrapers that boxes filter by; those that are no attribute here come from META."""
LISTS = frozenset({"version", TAGS})
"""Those that are lists even with one value."""

_TITLES = tuple(f"lvl{level}" for level in range(SECTION_LEVELS))
_OF_SCRAPERS = frozenset({*_TITLES, LEAST, RANK, *(one.name for one in DEFAULT_ATTRIBUTES)})
"""Attributes that are in records of scrapers in another form, or not at all."""
_SIGNS = re.compile(rf"(?:[{PERMALINKS}]+(?=\s|$))?")
"""What of a link to a heading stands behind its title in the text."""
_MOST_DIGITS, _MOST_RANK = 15, 10**9
"""Of numbers that every engine can hold."""
Titles = dict[str, str | None]


def document_key(source: str, url: str) -> str:
    """Return the id of a document: 32 hexadecimal digits, which every engine takes as an id."""
    return sha256(f"{source}\n{url}".encode(errors="replace")).hexdigest()[:32]


def records_of(document: IndexDocument, form: str = DOCUMENTS) -> Iterator[dict[str, Json]]:
    """Yield the records of a document in one of the forms, in the order of its text.

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
    if form == DOCUMENTS:
        yield record | {"text": "" if document.secret_text else document.text}
    elif form == SECTIONS:
        for own in _of_sections(document):
            yield record | {"id": f"{key}-{own['position']}"} | own
    else:
        for own in _of_scrapers(document):
            yield {**own, **record, "id": own["objectID"], "url": own["url"]}


class _Part(NamedTuple):
    """A part of a text: a heading, or the text below it."""

    above: Sequence[Section]
    """Its heading and those above that."""
    section: Section | None
    text: str
    """Without the heading."""


def _parts(document: IndexDocument) -> Iterator[_Part]:
    sections, text = document.sections, document.text
    yield _Part((), None, text[: sections[0].offset if sections else len(text)].strip())
    above: list[Section] = []
    for number, section in enumerate(sections):
        above = [*(one for one in above if one.level < section.level), section]
        end = sections[number + 1].offset if number + 1 < len(sections) else len(text)
        start = section.begin_of_text(text)
        if behind := _SIGNS.match(text, start):
            start = behind.end()
        yield _Part(above, section, text[start:end].strip())


def _titles(document: IndexDocument, above: Sequence[Section]) -> Titles:
    """Return the titles by level: that of the heading of this level, else what an attribute says for the page."""
    titles = {f"lvl{section.level - 1}": section.title for section in above}
    said = document.attributes
    return {name: titles.get(name) or " ".join(map(str, said.get(name, ()))) or None for name in _TITLES}


def _least(document: IndexDocument) -> int:
    values = document.attributes.get(LEAST, ())
    return int(values[0]) if values and isinstance(values[0], int | float) else 0


def _of_sections(document: IndexDocument) -> Iterator[dict[str, Json]]:
    """Yield a record for each section that has a text or a heading."""
    least = _least(document)
    for number, part in enumerate(_parts(document)):
        section = part.section
        level = section.level - 1 if section is not None else 0
        if not part.text and level < least:
            continue
        titles = _titles(document, part.above)
        titles["lvl0"] = titles["lvl0"] or document.title
        yield {
            "url": document.url if section is None else url_of_section(document.url, section),
            "url_without_anchor": document.url,
            "anchor": "" if section is None else section.anchor,
            "position": number,
            "type": "content" if part.text else f"lvl{level}",
            "hierarchy": {name: title for name, title in titles.items() if title is not None},
            "content": "" if document.secret_text else part.text,
        }


def _of_scrapers(document: IndexDocument) -> Iterator[dict[str, Json]]:
    """Yield a record for each heading, and one for each line of text."""
    key, least, position = document_key(document.source, document.url), _least(document), 0
    said = next(iter(document.attributes.get(RANK, ())), 0)
    rank = int(max(-_MOST_RANK, min(said, _MOST_RANK))) if isinstance(said, int | float) else 0
    tags: list[Json] = [_value(tag) for tag in document.attributes.get(TAGS, ())]
    shared: dict[str, Json] = {**_top_level(document), TAGS: tags, "url_without_anchor": document.url}
    for part in _parts(document):
        titles = {name: title and _for_html(title) for name, title in _titles(document, part.above).items()}
        linked = next((one for one in reversed(part.above) if one.anchor), None)
        place: dict[str, Json] = {
            "url": document.url if linked is None else url_of_section(document.url, linked),
            "anchor": None if linked is None else linked.anchor,
            "hierarchy": {**titles},
        }
        for level, line in _lines(part, document.secret_text):
            position += 1
            if level < least:
                continue
            deepest = next((name for name in reversed(_TITLES) if titles[name]), "") if line is None else ""
            yield {
                **shared,
                **place,
                "objectID": f"{key}-{position - 1}",
                "type": "content" if line is not None else f"lvl{level}",
                "content": None if line is None else _for_html(line),
                "hierarchy_radio": {name: titles[name] if name == deepest else None for name in _TITLES},
                "weight": {
                    RANK: rank,
                    "level": 100 - 10 * level if line is None else 0,
                    "position": position - 1,
                },
            }


def _lines(part: _Part, secret: bool) -> Iterator[tuple[int, str | None]]:
    """Yield the level of a heading without a text, and each line of the text below it with a level below all."""
    if part.section is not None:
        yield part.section.level - 1, None
    if not secret:
        for line in part.text.split("\n"):
            if kept := line.strip():
                yield SECTION_LEVELS, kept


def _top_level(document: IndexDocument) -> dict[str, Json]:
    """Return what a scraper writes beside the fields of every record: a list if there are several values."""
    of_meta = {name for name, _ in fields_of(document.attributes)}
    found: dict[str, Json] = {}
    for name, values in with_fields(document.attributes).items():
        if name not in _OF_SCRAPERS:
            read = [_read(str(value)) if name in of_meta else _value(value) for value in values]
            found[name] = read[0] if len(read) == 1 and name not in LISTS else read
    return found


def _read(text: str) -> Json:
    """Return the value of a META of scrapers: what it says in JSON, or itself."""
    try:
        value: Json = json.loads(text, parse_int=_whole_number)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value or text


def _whole_number(digits: str) -> int:
    """Return a number that every engine can hold. Raises `ValueError` for others, as a number of a build."""
    if len(digits) > _MOST_DIGITS:
        raise ValueError(digits)
    return int(digits)


def _for_html(text: str) -> str:
    """Return a text for boxes that show it as HTML."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _value(value: AttributeValue) -> Json:
    """Return a value as every engine can compare it: a date as seconds since the epoch."""
    if isinstance(value, datetime):
        return int(as_utc(value).timestamp())
    return str(value) if isinstance(value, float) and not isfinite(value) else value
