"""The tantivy schema and documents; texts are analysed by `words`, so tantivy only splits at blanks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from tantivy import Document, Schema, SchemaBuilder

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.query.scoring import BUILT_IN_FIELDS, FIELDS
from ultracrawl.index.stored_fields import (
    EPOCH,
    MICROSECOND,
    SORT_KEY_LIMIT,
    acl_terms,
    document_id,
    known_values,
    microseconds,
    safe_name,
    values_of_type,
)
from ultracrawl.index.values import attributes_from_json, attributes_to_json, extras_to_json, with_extras
from ultracrawl.index.words.analysis import replace_surrogates
from ultracrawl.index.words.text import analyse, index_words
from ultracrawl.index.words.vocabulary import joined
from ultracrawl.model import AttributeValue
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute


def value_field(attribute: SearchAttribute) -> str:
    """Return the field with the whole values of an attribute."""
    return f"value_{safe_name(attribute.name)}"


def sort_field(attribute: SearchAttribute) -> str:
    """Return the field with the sort key: the first value of the attribute."""
    return f"sort_{safe_name(attribute.name)}"


def word_field(name: str) -> str:
    """Return the field with the words of a string attribute."""
    return BUILT_IN_FIELDS.get(name) or f"words_{safe_name(name)}"


def new_schema(attributes: Mapping[str, SearchAttribute]) -> Schema:
    """Return the schema of a new index."""
    builder = SchemaBuilder()
    for name in ("id", "source", "url", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=name == "source")
    for field in FIELDS:
        option = "position" if field.has_positions else "freq"
        builder.add_text_field(field.name, tokenizer_name="whitespace", index_option=option)
        if field.stems:
            builder.add_text_field(field.stems, tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("acl", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("stored", stored=True)
    for attribute in attributes.values():
        _add_attribute(builder, attribute)
    return builder.build()


def _add_attribute(builder: SchemaBuilder, attribute: SearchAttribute) -> None:
    value, sort = value_field(attribute), sort_field(attribute)
    if attribute.type is AttributeType.STRING:
        builder.add_text_field(value, tokenizer_name="raw", index_option="basic", fast=True)
        builder.add_text_field(sort, tokenizer_name="raw", index_option="basic", fast=True)
        if attribute.name != "Title":
            name = word_field(attribute.name)
            builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    elif attribute.type is AttributeType.NUMBER:
        builder.add_float_field(value, indexed=True, fast=True)
        builder.add_float_field(sort, fast=True)
    else:
        builder.add_integer_field(value, indexed=True, fast=True)
        builder.add_integer_field(sort, fast=True)


def new_document(document: IndexDocument, attributes: Mapping[str, SearchAttribute]) -> Document:
    """Return the tantivy document; `attributes` are those of the schema."""
    made, analysed = Document(), analyse(document, attributes.values())
    known = known_values(document, attributes)
    made.add_text("id", document_id(document.source, document.url))
    made.add_text("source", replace_surrogates(document.source))
    made.add_text("url", replace_surrogates(document.url))
    for field in FIELDS:
        for found in analysed.words.get(field.name, ()):
            if found:
                made.add_text(field.name, joined(found))
        if stems := analysed.stems.get(field.name):
            made.add_text(field.stems, joined(stems))
    for term in acl_terms(document.acl):
        made.add_text("acl", term)
    if analysed.language:
        made.add_text("language", analysed.language)
    row = [
        document.source, document.url, document.title, document.text, attributes_to_json(known),
        document.secret_text, document.anchors, extras_to_json(document),
    ]  # fmt: skip
    made.add_bytes("stored", json.dumps(row, ensure_ascii=False).encode(errors="replace"))
    for name, values in known.items():
        _add_values(made, attributes[name], values_of_type(attributes[name].type, values))
    return made


def stored_document(stored: Document) -> IndexDocument:
    """Return a stored document; raises ValueError if it is damaged."""
    data = stored.get_first("stored")
    source, url, title, text, attributes, secret, *rest = json.loads(bytes(data or b""))
    anchors = tuple(map(str, rest[0])) if rest else ()  # version 1 has no anchors
    document = IndexDocument(source, url, title, text, attributes_from_json(attributes), secret, anchors)
    return with_extras(document, rest[1]) if rest[1:] and rest[1] else document


def year_of(value: int) -> str:
    """Return the year of a time in microseconds."""
    return f"{(EPOCH + value * MICROSECOND).year:04}"


def _add_values(made: Document, attribute: SearchAttribute, values: list[AttributeValue]) -> None:
    value, sort = value_field(attribute), sort_field(attribute)
    for number, one in enumerate(values):
        if isinstance(one, datetime):
            made.add_integer(value, microseconds(one))
            if not number:
                made.add_integer(sort, microseconds(one))
        elif isinstance(one, str):
            key = one.strip().lower()
            made.add_text(value, key)
            if not number and key:
                made.add_text(sort, key[:SORT_KEY_LIMIT])
        else:
            made.add_float(value, one)
            if not number:
                made.add_float(sort, one)
    if attribute.type is AttributeType.STRING and attribute.name != "Title" and values:
        made.add_text(word_field(attribute.name), joined(index_words(" ".join(map(str, values)))))
