"""Converts rows into entries: the columns that are read, the document of a row, and its validators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, time
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

import sqlalchemy as sa
import xxhash
from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Entry, attribute_texts
from ultracrawl.agents.table.row_groups import RowGroups
from ultracrawl.agents.table.section import PLACEHOLDER, RepeatedSection, TableSection
from ultracrawl.agents.table.shape import RowKeys, is_among, key_text, key_texts, read_relation
from ultracrawl.model.dates import epoch
from ultracrawl.sources.definition import DataSource

_FORMAT = 2
"""Changes when rows become other entries than before: all rows are read again then."""
_TITLE_LENGTH = 120
_ROWS_AT_ONCE = 500
_MAX_PARAMETERS = 4000
"""Parameters of a statement."""
_COMPARED = 100
"""Characters or bytes of a value by which rows with the same key are ordered; then it is by a checksum."""
_PLAIN = "text/plain; charset=utf-8"

Row = Mapping[str, Any]
"""Column name in lower case -> value."""
Repeated = Mapping[str, Sequence[str]]
"""Attribute name -> values from another table (option `repeated`)."""


class RowReader:
    """Reads the rows of one source. Each listing creates a new one, as the columns of tables may change."""

    def __init__(self, connection: Connection, source: DataSource, options: TableSection) -> None:
        self._options = options
        self._attributes = {name.lower(): target for name, target in source.attributes.items()}
        self.relation = read_relation(connection, options.table, options.select)
        self.keys = RowKeys.of_relation(connection, source.name, self.relation, options.key)
        self._lists = {
            name.lower(): _RepeatedValues(connection, name, section)
            for name, section in options.repeated.items()
        }
        self.digest = xxhash.xxh3_64_hexdigest(
            repr((_FORMAT, _content_options(options), sorted(self._attributes.items()))).encode()
        )
        """Changes with the options that affect the entries."""
        self.entry_columns = self._entry_columns()
        """The columns that entries are made of, the key first."""
        self.listing_columns = self._listing_columns() if options.changes.column else self.entry_columns
        """The columns that a listing of all rows reads, the key first."""

    def _listing_columns(self) -> list[str]:
        options = self._options
        names = [*options.key, options.changes.column or "", *PLACEHOLDER.findall(options.display_url or "")]
        return list(dict.fromkeys(name.lower() for name in names))

    def _entry_columns(self) -> list[str]:
        options, column = self._options, self.relation.column
        names = [column(name, "key").name for name in options.key]
        names += [column(name, "text").name for name in options.text]
        names += [column(name, "display_url").name for name in PLACEHOLDER.findall(options.display_url or "")]
        for option in ("media_type", "owner_column"):
            if name := getattr(options, option):
                names.append(column(name, option).name)
        if options.acl_column and options.acl_column.lower() not in self._lists:
            names.append(column(options.acl_column, "acl_column").name)
        if options.changes.column:
            names.append(column(options.changes.column, "changes.column").name)
        names += [name for name in self._attributes if name in self.relation.columns]
        return list(dict.fromkeys(name.lower() for name in names))

    @property
    def holds_documents(self) -> bool:
        """Whether rows hold documents in bytes, which may be large."""
        texts = (self.relation.sample.get(name.lower()) for name in self._options.text)
        return bool(self._options.media_type) or any(isinstance(text, bytes | memoryview) for text in texts)

    def unknown_attributes(self) -> list[str]:
        """Return the mapped attributes that are neither a column nor in `repeated`."""
        known = self.relation.columns.keys() | self._lists.keys()
        return [name for name in self._attributes if name not in known]

    def binary_attributes(self) -> list[str]:
        """Return the mapped attributes whose columns hold bytes, which an attribute cannot have."""
        sample = self.relation.sample
        return [name for name in self._attributes if isinstance(sample.get(name), bytes | memoryview)]

    def select(self, names: Iterable[str]) -> sa.Select[Any]:
        """Return a SELECT of columns of the source."""
        return sa.select(*(self.relation.columns[name] for name in names)).select_from(self.relation.origin)

    def rows_of(self, connection: Connection, keys: Sequence[Sequence[str]]) -> RowGroups[Row]:
        """Return the rows with the given keys; keys without a row are missing."""
        groups = RowGroups[Row]()
        for values, row in self.matching(connection, self.entry_columns, keys):
            groups.add(key_texts(values), values, row, partial(self.order_of, row))
        groups.join_types()
        return groups

    def matching(
        self, connection: Connection, names: Sequence[str], keys: Sequence[Sequence[str]]
    ) -> Iterator[tuple[Sequence[object], Row]]:
        """Yield the rows with the given keys: the values of their key columns, and of the named columns."""
        values = [value for key in keys for value in self.keys.values_of(key)]
        at_once = _MAX_PARAMETERS // len(self.keys.columns)
        for start in range(0, len(values), at_once):
            some = self.keys.is_among(values[start : start + at_once])
            for part in self.read(connection, self.select(names).where(some), names, _ROWS_AT_ONCE):
                yield from part

    def read(
        self, connection: Connection, statement: sa.Select[Any], names: Sequence[str], at_once: int
    ) -> Iterator[list[tuple[Sequence[object], Row]]]:
        """Yield the rows of a statement, as `matching` does, in parts; no more than a part is in memory at once."""
        size = len(self.keys.columns)
        with closing(connection.execute(statement.execution_options(yield_per=at_once))) as result:
            for part in result.partitions():
                yield [(columns[:size], dict(zip(names, columns, strict=True))) for columns in part]

    def order_of(self, row: Row) -> tuple[object, ...]:
        """Return what says which one of rows with the same key is the first: by their values, as far as they are read.

        A row with the columns of a listing comes where it would come with those of an entry.
        """
        order = _order_of(row[name] for name in self.listing_columns)
        if self._options.changes.column and all(name in row for name in self.entry_columns):
            order += _order_of(row[name] for name in self.entry_columns)
        return order

    def repeated_of(
        self, connection: Connection, rows: Sequence[Row]
    ) -> dict[tuple[str, ...], dict[str, list[str]]]:
        """Return the values of `repeated` that belong to rows, by key."""
        repeated: dict[tuple[str, ...], dict[str, list[str]]] = {}
        if not self._lists:
            return repeated
        keys = [tuple(row[name.lower()] for name in self._options.key) for row in rows]
        for name, values in self._lists.items():
            for key, value in values.read(connection, keys):
                repeated.setdefault(key, {}).setdefault(name, []).append(value)
        return repeated

    def validators_of(self, row: Row, repeated: Repeated) -> str:
        """Return a text that changes with the row, its `repeated` values or the options."""
        if column := self._options.changes.column:
            return f"{key_text(row[column.lower()])} {self.digest}"
        values = [_comparable(row[name]) for name in self.entry_columns]
        return xxhash.xxh3_128_hexdigest(repr((self.digest, values, sorted(repeated.items()))).encode())

    def listed_entry(self, key: Sequence[str], row: Row, repeated: Repeated) -> Entry:
        """Return the entry of a row for a listing, without its document."""
        return Entry(
            self.keys.url_of(key),
            display_url=self._display_url_of(row),
            validators=self.validators_of(row, repeated),
        )

    def entry_of(self, key: Sequence[str], row: Row, repeated: Repeated) -> Entry:
        """Return the entry of a row with its document."""
        options = self._options
        mapped = {target: name for name, target in self._attributes.items() if name in row}
        document = self._document_of(row)
        title = _text(row.get(mapped.get("Title", "")))
        changed = _timestamp(row.get(mapped.get("LastModifiedDate", options.changes.column or "").lower()))
        used = {
            mapped.get("Title"),
            mapped.get("Language"),
            mapped.get("LastModifiedDate") if changed else None,
        }
        attributes = {
            name: attribute_texts(row[name]) for name in self._attributes if name in row and name not in used
        }
        acl = self._acl_of(row, repeated)
        return Entry(
            self.keys.url_of(key),
            display_url=self._display_url_of(row),
            validators=self.validators_of(row, repeated),
            title=title or (first_line(_text(row[options.text[0].lower()])) if document.is_plain else ""),
            name=document.name,
            language=_text(row.get(mapped.get("Language", ""))),
            attributes={**attributes, **{name: tuple(values) for name, values in repeated.items()}},
            last_modified=changed,
            acl=acl,
            owner=_text(row.get((options.owner_column or "").lower())),
            body=document.body,
            content_type=document.content_type,
            reads_metadata=not document.is_plain,
        )

    def _document_of(self, row: Row) -> _Document:
        values = [row[name.lower()] for name in self._options.text]
        type_or_name = _text(row.get((self._options.media_type or "").lower())).strip()
        media_type, name = (type_or_name, "") if "/" in type_or_name else ("", type_or_name)
        if len(values) == 1 and isinstance(values[0], bytes | bytearray | memoryview):
            return _Document(bytes(values[0]), media_type, name)
        text = "\n\n".join(part for part in map(_text, values) if part)
        if media_type:
            media_type = f"{media_type.partition(';')[0].strip()}; charset=utf-8"
        elif not name:
            media_type = _PLAIN
        return _Document(text.encode("utf-8", "replace"), media_type, name, is_plain=not type_or_name)

    def _display_url_of(self, row: Row) -> str:
        template = self._options.display_url or ""
        if PLACEHOLDER.fullmatch(template):  # without a value the template stays, which is no URL (1010)
            return _text(row[template[1:-1].lower()]).strip() or template
        return PLACEHOLDER.sub(lambda match: quote(_text(row[match[1].lower()]), safe=""), template)

    def _acl_of(self, row: Row, repeated: Repeated) -> tuple[str, ...]:
        name = (self._options.acl_column or "").lower()
        if name in self._lists:
            return tuple(repeated.get(name, ()))
        return tuple(line.strip() for line in _text(row.get(name)).splitlines() if line.strip())


class _Document(NamedTuple):
    body: bytes
    content_type: str
    """Empty if unknown."""
    name: str
    """File name; empty if unknown."""
    is_plain: bool = False
    """Whether the row gives neither media type nor file name, so the document is plain text."""


class _RepeatedValues:
    """The values of one attribute, read from another table (option `repeated`)."""

    def __init__(self, connection: Connection, name: str, section: RepeatedSection) -> None:
        relation, option = read_relation(connection, section.table, section.select), f"repeated.{name}"
        self._keys = [relation.column(column, f"{option}.key") for column in section.key]
        self._value = relation.column(section.value, f"{option}.value")

    def read(
        self, connection: Connection, keys: Sequence[Sequence[object]]
    ) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield keys with their values, in a stable order."""
        result = connection.execute(
            sa.select(*self._keys, self._value)
            .where(is_among(self._keys, keys))
            .order_by(*self._keys, self._value)
        )
        for *key, value in result:
            for text in attribute_texts(value):
                yield key_texts(key), text


def first_line(text: str) -> str:
    """Return the first line of a text as a title, truncated at a word."""
    line = " ".join(text.strip().partition("\n")[0].split())
    return line if len(line) <= _TITLE_LENGTH else line[:_TITLE_LENGTH].rpartition(" ")[0]


def _content_options(options: TableSection) -> str:
    names = set(TableSection.model_fields) - TableSection.FETCH_OPTIONS
    return options.model_dump_json(include=names)


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return "\n".join(attribute_texts(value))


def _order_of(values: Iterable[object]) -> tuple[str, ...]:
    """Return the beginnings of values, and a checksum of all of them."""
    beginnings, checksum = list[str](), xxhash.xxh3_64()
    for value in map(_comparable, values):
        if isinstance(value, str | bytes):
            beginnings.append(repr(value[:_COMPARED]))
            checksum.update(value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass"))
        else:
            beginnings.append(repr(value))
        checksum.update(b"\0")
    return (*beginnings, checksum.hexdigest())


def _comparable(value: object) -> object:
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def _timestamp(value: object) -> float:
    """Return a date or time as seconds since 1970; 0 for other values."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return 0.0
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return epoch(value) if isinstance(value, datetime) else 0.0
