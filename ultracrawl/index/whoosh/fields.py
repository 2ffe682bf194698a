"""The Whoosh schema and documents, in Whoosh's own classes so that stock Whoosh can read them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from whoosh.analysis import Analyzer, CharsetFilter, LowercaseFilter, RegexTokenizer
from whoosh.columns import NumericColumn, VarBytesColumn
from whoosh.fields import COLUMN, DATETIME, ID, KEYWORD, NUMERIC, STORED, TEXT, FieldType, Schema

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.query.scoring import BUILT_IN_FIELDS, FIELDS
from ultracrawl.index.stored_fields import (
    SCHEMA_VERSION,
    SORT_KEY_LIMIT,
    STORED_TEXT_LIMIT,
    acl_terms,
    document_id,
    known_values,
    safe_name,
    values_of_type,
)
from ultracrawl.index.values import pack_document
from ultracrawl.index.words.analysis import WORD_PATTERN, folded_letters, replace_surrogates
from ultracrawl.index.words.text import AnalysedText, analyse, index_words
from ultracrawl.model import AttributeValue
from ultracrawl.model.dates import as_utc
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.system.compiled_core import Words

NO_VALUE = 2**64 - 1
"""Value of a numeric sort column for documents without a value."""

VERSION_FIELD = f"analysis_{SCHEMA_VERSION}"
"""An empty field whose name contains the schema version; the name dates from when this was the version of text analysis
alone."""


STORED_DOCUMENT = "stored"
"""The column with the documents, as `pack_document` encodes them; stored fields of Whoosh would be pickles."""
UNSTORED_TEXT = "rest"
"""The column with the compressed text beyond the stored part; empty for most documents."""


_FIRST_WITH_CURRENT_FIELDS = 2


class Passages(list[Words]):
    """The words of several texts of one field; phrases do not match across texts."""


def word_field(attribute: str) -> str:
    """Return the field with the words of a string attribute."""
    return BUILT_IN_FIELDS.get(attribute) or f"w_{safe_name(attribute)}"


def value_field(attribute: SearchAttribute) -> str:
    """Return the field with the whole values of an attribute, for equality and sorting."""
    return f"{_VALUE_PREFIXES[attribute.type]}_{safe_name(attribute.name)}"


def value_terms_end(kind: AttributeType) -> bytes | None:
    """Return the first term of a value field that is not a value but a numeric range; None if it has none."""
    return None if kind is AttributeType.STRING else b"\x01"


def schema_fields(attributes: Mapping[str, SearchAttribute]) -> dict[str, FieldType]:
    """Return every field of the index by name; more attributes only add fields."""
    names = [*_FIELD_FACTORIES, *map(value_field, attributes.values())]
    names += (word_field(one.name) for one in attributes.values() if one.type is AttributeType.STRING)
    return {name: field for name in names if (field := _field_named(name)) is not None}


def new_schema(attributes: Mapping[str, SearchAttribute]) -> Schema:
    """Return the schema of a new index."""
    return Schema(**schema_fields(attributes))


def schema_version(schema: Schema) -> int:
    """Return the schema version of an index with these fields; 0 for none."""
    names = schema.names()
    start = VERSION_FIELD.rstrip("0123456789")
    versions = [int(name.removeprefix(start)) for name in names if name.startswith(start)]
    return max(versions, default=1 if names else 0)


def with_current_fields(schema: Schema) -> Schema:
    """Return a schema with the current definitions of its fields in place of the pickled ones.

    The index may have been written with other Unicode data or another Whoosh. Schemas of the first version are returned
    unchanged.
    """
    if schema_version(schema) < _FIRST_WITH_CURRENT_FIELDS:
        return schema
    return Schema(**{name: _field_named(name) or field for name, field in schema.items()})


def field_values(document: IndexDocument, attributes: Mapping[str, SearchAttribute]) -> dict[str, object]:
    """Return the arguments of Whoosh's `add_document` for a document; unknown attributes are dropped."""
    text = replace_surrogates(document.text)
    shown = "" if document.secret_text else text[:STORED_TEXT_LIMIT]
    known = known_values(document, attributes)
    fields: dict[str, object] = {
        "id": document_id(document.source, document.url),
        "source": replace_surrogates(document.source),
        STORED_DOCUMENT: pack_document(0, replace(document, text=shown, attributes=known)),
        **_word_fields(analyse(document, attributes.values())),
    }
    if rest := text[len(shown) :]:
        fields[UNSTORED_TEXT] = zlib.compress(rest.encode(), 1)
    if document.acl:
        fields["acl"] = acl_terms(document.acl)
    for name, values in known.items():
        _add_values(fields, attributes[name], values)
    return fields


def _word_fields(analysed: AnalysedText) -> dict[str, object]:
    """Return the words and stems of a document by field."""
    fields: dict[str, object] = {"language": analysed.language} if analysed.language else {}
    for field in FIELDS:
        if found := analysed.words.get(field.name):
            fields[field.name] = found[0] if len(found) == 1 else Passages(found)
        if stems := analysed.stems.get(field.name):
            fields[field.stems] = stems
    return fields


def naive_utc(moment: datetime) -> datetime:
    """Return the time in the form of Whoosh: in UTC, without a time zone."""
    return as_utc(moment).astimezone(UTC).replace(tzinfo=None)


def _add_values(
    fields: dict[str, object], attribute: SearchAttribute, values: Sequence[AttributeValue]
) -> None:
    of_type = _converted(attribute.type, values)
    if not of_type:
        return
    name = value_field(attribute)
    fields[name] = list(dict.fromkeys(of_type))
    if attribute.type is AttributeType.STRING:
        texts = [str(value) for value in of_type]
        fields[name] = list(dict.fromkeys(text.strip().lower() for text in texts))
        fields[f"_stored_{name}"] = texts[0].strip().lower()[:SORT_KEY_LIMIT]
        if attribute.name != "Title":
            fields[word_field(attribute.name)] = index_words(" ".join(texts))


def _converted(kind: AttributeType, values: Sequence[AttributeValue]) -> list[AttributeValue]:
    found = values_of_type(kind, values)
    return [naive_utc(value) if isinstance(value, datetime) else value for value in found]


def word_analyzer() -> Analyzer:
    """Return a Whoosh analyzer equivalent to `analysis.words`, for queries of stock Whoosh; not used here.

    Unlike `words` it does not split runs of Chinese, Japanese, Korean and Thai into bigrams.
    """
    return _ANALYZER


def _field_named(name: str) -> FieldType | None:
    """Return the field with this name, which determines its type; None for a name that is not ours."""
    make = _FIELD_FACTORIES.get(name) or _FIELD_FACTORIES_BY_PREFIX.get(name[:2])
    return None if make is None else make()


def _text() -> TEXT:
    return TEXT(analyzer=word_analyzer(), phrase=True)


def _value(kind: AttributeType) -> FieldType:
    if kind is AttributeType.STRING:
        return ID(sortable=True)
    if kind is AttributeType.NUMBER:
        return NUMERIC(float, shift_step=0, sortable=NumericColumn("Q", default=NO_VALUE))
    return DATETIME(sortable=NumericColumn("Q", default=NO_VALUE))


_ANALYZER = RegexTokenizer(WORD_PATTERN) | LowercaseFilter() | CharsetFilter(folded_letters())
_VALUE_PREFIXES = {AttributeType.STRING: "k", AttributeType.NUMBER: "n", AttributeType.DATE: "d"}
_FIELD_FACTORIES: dict[str, Callable[[], FieldType]] = {
    "id": partial(ID, unique=True),
    "source": ID,
    **{field.name: _text if field.has_positions else KEYWORD for field in FIELDS},
    **{field.stems: KEYWORD for field in FIELDS if field.stems},
    "acl": ID,
    STORED_DOCUMENT: lambda: COLUMN(VarBytesColumn()),
    UNSTORED_TEXT: lambda: COLUMN(VarBytesColumn()),
    "language": ID,
    VERSION_FIELD: STORED,
}
_FIELD_FACTORIES_BY_PREFIX: dict[str, Callable[[], FieldType]] = {
    "w_": _text,
    **{f"{prefix}_": partial(_value, kind) for kind, prefix in _VALUE_PREFIXES.items()},
}
