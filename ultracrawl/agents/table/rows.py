"""Rows as entries: which columns are read, what a row becomes, and the checksum that tells its changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import sqlalchemy as sa
import xxhash
from sqlalchemy.engine import Connection

from ultracrawl.agents.port import Entry, attribute_texts
from ultracrawl.agents.table.section import PLACE, TableSection
from ultracrawl.agents.table.shape import RowKeys, among, key_text, read_relation
from ultracrawl.errors import WorkError

if TYPE_CHECKING:
    from ultracrawl.agents.table.section import RepeatedSection
    from ultracrawl.sources.definition import DataSource

_TITLE_LENGTH = 120
_PLAIN = "text/plain; charset=utf-8"

Row = Mapping[str, Any]
"""The values of a row, by column in lower case."""
Repeated = Mapping[str, Sequence[str]]
"""Values of attributes out of other tables, by name."""


class RowReader:
    """Reads the rows of one source, by connections that it is given; made anew for each listing, as tables change."""

    def __init__(self, connection: Connection, source: DataSource, options: TableSection) -> None:
        self._options = options
        self._attributes = {name.lower(): target for name, target in source.attributes.items()}
        self.relation = read_relation(connection, options.table, options.select)
        self.keys = RowKeys.of_relation(source.name, self.relation, options.key)
        self._lists = {
            name.lower(): _RepeatedValues(connection, name, one) for name, one in options.repeated.items()
        }
        self.digest = xxhash.xxh3_64_hexdigest(
            repr((_written(options), sorted(self._attributes.items()))).encode()
        )
        """Is another as soon as the options make other entries of the same rows."""
        self.named = self._named_columns()
        """The columns that entries are made from, the key first."""
        self.listed = self._listed_columns() if options.changes.column else self.named
        """The columns that a listing of all rows reads, the key first."""

    def _listed_columns(self) -> list[str]:
        options = self._options
        names = [*options.key, options.changes.column or "", *PLACE.findall(options.display_url or "")]
        return list(dict.fromkeys(name.lower() for name in names))

    def _named_columns(self) -> list[str]:
        options, has = self._options, self.relation.column
        names = [has(name, "key").name for name in options.key]
        names += [has(name, "text").name for name in options.text]
        names += [has(name, "display_url").name for name in PLACE.findall(options.display_url or "")]
        for place in ("media_type", "owner_column"):
            if name := getattr(options, place):
                names.append(has(name, place).name)
        if options.acl_column and options.acl_column.lower() not in self._lists:
            names.append(has(options.acl_column, "acl_column").name)
        if options.changes.column:
            names.append(has(options.changes.column, "changes.column").name)
        names += [one for one in self._attributes if one in self.relation.columns]
        return list(dict.fromkeys(name.lower() for name in names))

    @property
    def holds_documents(self) -> bool:
        """Whether rows hold documents in bytes, which may be large."""
        texts = (self.relation.sample.get(name.lower()) for name in self._options.text)
        return bool(self._options.media_type) or any(isinstance(one, bytes | memoryview) for one in texts)

    def unknown_attributes(self) -> list[str]:
        """Return the mapped attributes that neither a column nor a list of the source gives."""
        known = self.relation.columns.keys() | self._lists.keys()
        return [name for name in self._attributes if name not in known]

    def select(self, names: Iterable[str]) -> sa.Select[Any]:
        """Return a statement that reads columns."""
        return sa.select(*(self.relation.columns[name] for name in names)).select_from(self.relation.origin)

    def rows_of(self, connection: Connection, keys: Sequence[Sequence[str]]) -> dict[tuple[str, ...], Row]:
        """Return the rows that have some keys, by key; keys of no row are missing."""
        values = [value for key in keys if (value := self.keys.values_of(key)) is not None]
        if not values:
            return {}
        found = connection.execute(self.select(self.named).where(self.keys.among(values)))
        rows = [dict(zip(self.named, one, strict=True)) for one in found]
        return {self.key_of(row): row for row in rows}

    def check_keys(self, connection: Connection) -> None:
        """See that all rows have a key. Raises `WorkError`."""
        empty = sa.or_(*(one.is_(None) for one in self.keys.columns))
        without = sa.select(sa.literal(1)).select_from(self.relation.origin).where(empty).limit(1)
        if connection.execute(without).first() is not None:
            raise _without_key()

    def key_of(self, row: Row) -> tuple[str, ...]:
        """Return the key of a row as texts. Raises `WorkError` if it has none."""
        values = [row[name.lower()] for name in self._options.key]
        if None in values:
            raise _without_key()
        return tuple(key_text(one) for one in values)

    def repeated_of(
        self, connection: Connection, rows: Sequence[Row]
    ) -> dict[tuple[str, ...], dict[str, list[str]]]:
        """Return the values out of other tables that belong to rows, by key."""
        found: dict[tuple[str, ...], dict[str, list[str]]] = {}
        keys = [tuple(row[name.lower()] for name in self._options.key) for row in rows]
        for name, values in self._lists.items():
            for key, value in values.read(connection, keys):
                found.setdefault(key, {}).setdefault(name, []).append(value)
        return found

    def validators_of(self, row: Row, repeated: Repeated) -> str:
        """Return what is another as soon as the row, its lists or the options have changed."""
        if column := self._options.changes.column:
            return f"{key_text(row[column.lower()])} {self.digest}"
        values = [_comparable(row[name]) for name in self.named]
        return xxhash.xxh3_128_hexdigest(repr((self.digest, values, sorted(repeated.items()))).encode())

    def listed_entry(self, row: Row, repeated: Repeated) -> Entry:
        """Return what a listing says of a row."""
        return Entry(
            self.keys.url_of(self.key_of(row)),
            display_url=self._display_url_of(row),
            validators=self.validators_of(row, repeated),
        )

    def entry_of(self, row: Row, repeated: Repeated) -> Entry:
        """Return a row as a whole document."""
        options, key = self._options, self.key_of(row)
        mapped = {target: name for name, target in self._attributes.items() if name in row}
        document = self._document_of(row)
        title = _text(row.get(mapped.get("Title", "")))
        changed = _moment(row.get(mapped.get("LastModifiedDate", options.changes.column or "").lower()))
        told = {
            mapped.get("Title"),
            mapped.get("Language"),
            mapped.get("LastModifiedDate") if changed else None,
        }
        attributes = {
            one: attribute_texts(row[one]) for one in self._attributes if one in row and one not in told
        }
        acl = self._acl_of(row, repeated)
        return Entry(
            self.keys.url_of(key),
            display_url=self._display_url_of(row),
            validators=self.validators_of(row, repeated),
            title=title or (first_line(_text(row[options.text[0].lower()])) if document.is_plain else ""),
            name=document.name,
            language=_text(row.get(mapped.get("Language", ""))),
            attributes={**attributes, **{one: tuple(values) for one, values in repeated.items()}},
            last_modified=changed,
            acl=acl,
            owner=_text(row.get((options.owner_column or "").lower())),
            body=document.body,
            content_type=document.content_type,
            reads_metadata=not document.is_plain,
        )

    def _document_of(self, row: Row) -> _Document:
        values = [row[name.lower()] for name in self._options.text]
        told = _text(row.get((self._options.media_type or "").lower())).strip()
        kind, name = (told, "") if "/" in told else ("", told)
        if len(values) == 1 and isinstance(values[0], bytes | bytearray | memoryview):
            return _Document(bytes(values[0]), kind, name)
        text = "\n\n".join(one for one in map(_text, values) if one)
        kind = f"{kind.partition(';')[0].strip()}; charset=utf-8" if kind else "" if name else _PLAIN
        return _Document(text.encode("utf-8", "replace"), kind, name, is_plain=not told)

    def _display_url_of(self, row: Row) -> str:
        template = self._options.display_url or ""
        if PLACE.fullmatch(template):
            return _text(row[template[1:-1].lower()]).strip()
        return PLACE.sub(lambda found: quote(_text(row[found[1].lower()]), safe=""), template)

    def _acl_of(self, row: Row, repeated: Repeated) -> tuple[str, ...]:
        name = (self._options.acl_column or "").lower()
        if name in self._lists:
            return tuple(repeated.get(name, ()))
        return tuple(one.strip() for one in _text(row.get(name)).splitlines() if one.strip())


class _Document(NamedTuple):
    body: bytes
    content_type: str
    """Empty if it is not known."""
    name: str
    """Its file name."""
    is_plain: bool = False
    """Whether it is a text of which nothing else is said."""


class _RepeatedValues:
    """The values of one attribute, in rows of another table."""

    def __init__(self, connection: Connection, name: str, written: RepeatedSection) -> None:
        relation, place = read_relation(connection, written.table, written.select), f"repeated.{name}"
        self._keys = [relation.column(one, f"{place}.key") for one in written.key]
        self._value = relation.column(written.value, f"{place}.value")

    def read(
        self, connection: Connection, keys: Sequence[Sequence[object]]
    ) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the values that belong to keys of rows, in one order at all times."""
        found = connection.execute(
            sa.select(*self._keys, self._value)
            .where(among(self._keys, keys))
            .order_by(*self._keys, self._value)
        )
        for *key, value in found:
            for text in attribute_texts(value):
                yield tuple(key_text(one) for one in key), text


def _without_key() -> WorkError:
    return WorkError("key: a row has nothing in a column of its key; name columns that tell all rows apart")


def first_line(text: str) -> str:
    """Return the beginning of a text as a title: its first line, cut at a word."""
    line = " ".join(text.strip().partition("\n")[0].split())
    return line if len(line) <= _TITLE_LENGTH else line[:_TITLE_LENGTH].rpartition(" ")[0]


def _written(options: TableSection) -> str:
    names = set(TableSection.model_fields) - TableSection.FETCH_OPTIONS
    return options.model_dump_json(include=names)


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return "".join(attribute_texts(value))


def _comparable(value: object) -> object:
    return bytes(value) if isinstance(value, bytearray | memoryview) else value


def _moment(value: object) -> float:
    """Return a time as seconds since 1970; 0 for what is none."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return 0.0
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        return 0.0
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
