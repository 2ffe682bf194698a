"""The mapping and the documents; texts are analysed by `words`, so the server only splits at blanks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from ultracrawl.index.engine import IndexDocument, Json
from ultracrawl.index.query.scoring import BUILT_IN_FIELDS, FIELDS, K1, B
from ultracrawl.index.stored_fields import (
    SCHEMA_VERSION,
    SORT_KEY_LIMIT,
    STORED_TEXT_LIMIT,
    acl_terms,
    document_id,
    known_values,
    microseconds,
    safe_name,
    values_of_type,
)
from ultracrawl.index.values import change_from_line, change_to_line
from ultracrawl.index.words.analysis import replace_surrogates
from ultracrawl.index.words.text import analyse, index_words
from ultracrawl.index.words.vocabulary import joined
from ultracrawl.model import AttributeValue
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

MARK = "ultracrawl"
"""The entry of the mapping's `_meta` by which an index is ours."""
BEHIND = "behind"
"""The aggregation of a search with the index that was searched."""
MAX_RESULTS = 100_000
"""Hits that can be asked for, those before the offset included."""
_LONGEST_KEYWORD = 8000
"""Characters of a value; longer ones are not searched as a whole, because the server refuses them."""
MAPPING_VERSION = 3
"""Version of the mapping and of what is stored; increase it whenever they change, as the schema version."""
REST = "rest"
"""The field with what is behind the part of a text that ranks a document. It is stored outside of `_source`, so that
servers send that as it is; in an index of version 2 it is a part of the stored document."""
RANKING: dict[str, Json] = {"_source": True}
"""What a search asks for of a document: all parts but the rest of a text. In an index of version 1 there are none."""
WHOLE: dict[str, Json] = {"_source": True, "stored_fields": [REST]}
"""All of a document."""
NAMING: dict[str, Json] = {"_source": {"includes": ["stored"], "excludes": ["stored.text", "stored.rest"]}}
"""What names a document."""
RESTS: dict[str, Json] = {"_source": ["stored.rest"], "stored_fields": [REST]}
"""The rest of its text."""
DELETIONS_KEPT = "1h"
"""How long the servers know the version of a deletion."""
Row = tuple[str, Mapping[str, Json] | None, int]
"""The key of a document, the document (None to delete it), and the version of the change (0: none)."""
_NUMERIC = {AttributeType.NUMBER: "double", AttributeType.DATE: "long"}
_KEYWORD: dict[str, Json] = {"type": "keyword", "ignore_above": _LONGEST_KEYWORD}


def value_field(attribute: SearchAttribute) -> str:
    """Return the field with the whole values of an attribute."""
    return f"value_{safe_name(attribute.name)}"


def sort_field(attribute: SearchAttribute) -> str:
    """Return the field with the sort key: the first value of the attribute."""
    return f"sort_{safe_name(attribute.name)}"


def facet_field(attribute: SearchAttribute) -> str:
    """Return the field whose values are counted: of a date the year, else the whole values."""
    return (
        f"year_{safe_name(attribute.name)}"
        if attribute.type is AttributeType.DATE
        else value_field(attribute)
    )


def shown_field(attribute: SearchAttribute) -> str:
    """Return the field with the values of a string attribute in their original case."""
    return f"shown_{safe_name(attribute.name)}"


def word_field(name: str) -> str:
    """Return the field with the words of a string attribute."""
    return BUILT_IN_FIELDS.get(name) or f"words_{safe_name(name)}"


def settings(shards: int, replicas: int) -> Json:
    """Return the settings of a new index.

    The similarity is BM25 without the inverse document frequency, which is a factor of our queries: so it counts the
    whole index, however many shards it has, and no documents that the searcher may not see.
    """
    source = (
        "double f = doc.freq; double average = (double) field.sumTotalTermFreq / Math.max(1, field.docCount);"
        f" return query.boost * {K1 + 1} * f / (f + {K1} * ({1 - B} + {B} * doc.length / average));"
    )
    tokenizer: Json = {"blanks": {"type": "whitespace", "max_token_length": _LONGEST_KEYWORD}}
    return {
        "number_of_shards": shards,
        "number_of_replicas": replicas,
        "max_result_window": MAX_RESULTS,
        "codec": "best_compression",  # of stored texts, which are the most of an index
        "gc_deletes": DELETIONS_KEPT,
        "refresh_interval": "-1",  # a batch ends with a refresh
        "similarity": {"default": {"type": "scripted", "script": {"source": source}}},
        "analysis": {
            "tokenizer": tokenizer,
            "analyzer": {"terms": {"type": "custom", "tokenizer": "blanks"}},
        },
    }


def marks(attributes: Mapping[str, SearchAttribute]) -> dict[str, Json]:
    """Return what the `_meta` of a mapping says of an index of ours."""
    known: Json = {one.name: one.type.value for one in attributes.values()}
    return {"schema": SCHEMA_VERSION, "mapping": MAPPING_VERSION, "attributes": known}


def mapping(attributes: Mapping[str, SearchAttribute], marked: dict[str, Json]) -> Json:
    """Return the mapping of a new index; `marked` is what its `_meta` says."""
    fields: dict[str, Json] = {name: dict(_KEYWORD) for name in ("source", "url", "language", "acl")}
    fields[REST] = {"type": "text", "index": False, "store": True}
    for field in FIELDS:
        fields[field.name] = _words(has_positions=field.has_positions)
        if field.stems:
            fields[field.stems] = _words(has_positions=False)
    for attribute in attributes.values():
        fields |= _fields_of(attribute)
    return {
        "dynamic": False,
        "_meta": {MARK: marked},
        "_source": {"includes": ["stored", "identity"]},
        "properties": fields,
    }


def _words(*, has_positions: bool) -> Json:
    return {
        "type": "text",
        "analyzer": "terms",
        "index_options": "positions" if has_positions else "freqs",
    }


def _fields_of(attribute: SearchAttribute) -> dict[str, Json]:
    value, sort = value_field(attribute), sort_field(attribute)
    made: dict[str, Json] = {}
    if kind := _NUMERIC.get(attribute.type):
        made |= {value: {"type": kind}, sort: {"type": kind, "index": False}}
        if attribute.type is AttributeType.DATE:
            made[facet_field(attribute)] = dict(_KEYWORD)
        return made
    made |= {value: dict(_KEYWORD), sort: dict(_KEYWORD)}
    made[shown_field(attribute)] = {"type": "keyword", "index": False, "ignore_above": _LONGEST_KEYWORD}
    if attribute.name != "Title":
        made[word_field(attribute.name)] = _words(has_positions=True)
    return made


def key_of(source: str, url: str) -> str:
    """Return the `_id` of a document: a hash, because the server takes no more than 512 bytes."""
    return sha256(document_id(source, url).encode()).hexdigest()


def new_document(document: IndexDocument, attributes: Mapping[str, SearchAttribute]) -> dict[str, Json]:
    """Return the document as the server gets it; `attributes` are those of the mapping."""
    analysed, known = analyse(document, attributes.values()), known_values(document, attributes)
    source, url = replace_surrogates(document.source), replace_surrogates(document.url)
    text = replace_surrogates(document.text)
    head = change_to_line(0, replace(document, text="", attributes=known)).decode()
    made: dict[str, Json] = {
        "stored": {"head": head, "text": text[:STORED_TEXT_LIMIT]},
        "identity": [source, url],
        "source": source,
        "url": url,
        "acl": list(acl_terms(document.acl)),
    }
    if rest := text[STORED_TEXT_LIMIT:]:
        made[REST] = rest
    for field in FIELDS:
        made[field.name] = [joined(found) for found in analysed.words.get(field.name, ()) if found]
        if stems := analysed.stems.get(field.name):
            made[field.stems] = joined(stems)
    if analysed.language:
        made["language"] = analysed.language
    for name, values in known.items():
        made |= _values(attributes[name], values_of_type(attributes[name].type, values))
    return made


def _values(attribute: SearchAttribute, values: list[AttributeValue]) -> dict[str, Json]:
    """Return the fields of an attribute of a document."""
    if not values:
        return {}
    value, sort = value_field(attribute), sort_field(attribute)
    if attribute.type is AttributeType.NUMBER:
        numbers: list[Json] = [one for one in values if isinstance(one, float)]
        return {value: numbers, sort: numbers[0]}
    if attribute.type is AttributeType.DATE:
        moments = [microseconds(one) for one in values if isinstance(one, datetime)]
        years = [f"{one.year:04}" for one in values if isinstance(one, datetime)]
        return {value: list[Json](moments), sort: moments[0], facet_field(attribute): list[Json](years)}
    texts = [str(one) for one in values]
    keys = [one.strip().lower() for one in texts]
    made: dict[str, Json] = {
        value: list[Json](keys),
        shown_field(attribute): list[Json]([one.strip() for one in texts]),
    }
    if first := keys[0][:SORT_KEY_LIMIT]:
        made[sort] = first
    if attribute.name != "Title":
        made[word_field(attribute.name)] = joined(index_words(" ".join(texts)))
    return made


def stored_parts(hit: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return the parts of a stored document that a server sent."""
    stored = hit.get("_source", {}).get("stored", {})
    parts: dict[str, Json] = dict(stored) if isinstance(stored, dict) else {"head": stored}
    return parts | {name: values[0] for name, values in hit.get("fields", {}).items()}


def stored_document(parts: Mapping[str, Json]) -> IndexDocument:
    """Return a document of which these parts are known.

    Raises `ValueError`, `KeyError` or `TypeError` if it is damaged.
    """
    _, document = change_from_line(str(parts["head"]).encode())
    if not isinstance(document, IndexDocument):
        raise ValueError("it is no document")
    text = str(parts.get("text", "")) + str(parts.get(REST, ""))
    return replace(document, text=text) if text else document


def attributes_of(known: Mapping[str, str]) -> dict[str, SearchAttribute]:
    """Return the attributes that the `_meta` of a mapping names."""
    return {name: SearchAttribute(name, AttributeType(kind)) for name, kind in known.items()}


def bulk_lines(index: str, rows: Iterable[Row]) -> list[bytes]:
    """Return one piece of a bulk request for each row."""
    lines = []
    for key, document, version in rows:
        action: dict[str, Json] = {"_index": index, "_id": key}
        if version:
            action |= {"version": version, "version_type": "external_gte"}
        if document is None:
            lines.append(json.dumps({"delete": action}).encode() + b"\n")
        else:
            body = json.dumps(document, ensure_ascii=False).encode()
            lines.append(json.dumps({"index": action}).encode() + b"\n" + body + b"\n")
    return lines
