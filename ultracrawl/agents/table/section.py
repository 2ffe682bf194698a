"""The options of the kind `table`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.sources.mistakes import format_names, format_value, mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list

MOST_KEYS = 8
"""Columns that a key may have, as many as a log of changes has."""
PLACE = re.compile(r"\{([^{}]+)\}")
"""The place of a column in a template."""


def _check_template(template: str) -> str:
    if not PLACE.search(template) or re.search(r"[{}]", PLACE.sub("", template)):
        raise mistake(
            f"{format_value(template)} names no column",
            "write columns in braces, as `https://tickets.example.com/{id}`, or one alone: `{url}`",
        )
    return template


def _check_twice(names: tuple[str, ...]) -> tuple[str, ...]:
    lowered = [name.lower() for name in names]
    if double := next((name for name in names if lowered.count(name.lower()) > 1), None):
        raise mistake(f"{format_value(double)} stands here twice", "write each column once")
    return names


ColumnName = Annotated[str, Field(min_length=1, max_length=200)]
TableName = Annotated[str, Field(pattern=r"^[^\s.]([^.]*[^\s.])?(\.[^\s.]([^.]*[^\s.])?)?$", max_length=400)]
"""A table or view, or `schema.table`."""
Columns = Annotated[
    tuple[ColumnName, ...], one_or_list(ColumnName), Field(min_length=1), AfterValidator(_check_twice)
]


class Rows(Section):
    """Rows of a table, a view or a query."""

    table: TableName | None = Field(default=None, examples=["tickets"])
    """A table or view; `schema.table` names one in a schema."""
    select: str | None = Field(
        default=None, min_length=1, examples=["SELECT id, title, body FROM tickets WHERE public"]
    )
    """A SELECT instead of a table; it may need no parameters."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.table is None) == (self.select is None):
            problem = (
                "neither `table` nor `select` is given"
                if self.table is None
                else "`table` and `select` exclude each other"
            )
            raise mistake(problem, "write one of them")
        return self


class RepeatedSection(Rows):
    """An attribute with several values, which stand in rows of another table."""

    key: Annotated[Columns, Field(max_length=MOST_KEYS)] = Field(examples=[["ticket_id"]])
    """Columns that hold the key of the row that a value belongs to, in the order of its `key`."""
    value: ColumnName = Field(examples=["tag"])
    """The column with the value."""


class ValueListSection(Section):
    """Where the values that a search attribute may have stand."""

    column: ColumnName | None = Field(default=None, examples=["status"])
    """A column of the rows of the source: its different values."""
    table: TableName | None = Field(default=None, examples=["statuses"])
    """Another table or view."""
    select: str | None = Field(default=None, min_length=1, examples=["SELECT code, label FROM statuses"])
    """A SELECT of values, and of display names in a second column."""
    value: ColumnName | None = Field(default=None, examples=["code"])
    """The column of `table` with the values."""
    display: ColumnName | None = Field(default=None, examples=["label"])
    """The column of `table` with their display names; none is needed."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if sum(one is not None for one in (self.column, self.table, self.select)) != 1:
            raise mistake("this names no list, or two", "write one of `column`, `table` and `select`")
        if (self.table is None) != (self.value is None):
            raise mistake("`table` and `value` belong together", "write both, or neither")
        if self.display is not None and self.table is None:
            raise mistake("`display` is a column of `table`", "remove it, or write `table` and `value`")
        return self


class ChangesSection(Section):
    """How it is found out which rows changed; by default all are read and compared."""

    column: ColumnName | None = Field(default=None, examples=["changed"])
    """A column that is another whenever the row has changed: a time of modification, or a number."""
    log: TableName | None = Field(default=None, examples=["tickets_log"])
    """A table that triggers note the keys of changed rows in (`ultracrawl changelog`)."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.column is not None and self.log is not None:
            raise mistake("`column` and `log` are two ways", "write one of them")
        return self


class TableSection(Rows):
    """The options of a source of the type `table`."""

    FETCH_OPTIONS: ClassVar = frozenset({"connection", "password", "changes", "value_lists"})

    connection: Secret = Field(examples=["postgresql://reader@db.example.com/tickets", "${TICKETS_DATABASE}"])
    """The URL of the database; as a whole it may be a secret. A file of SQLite is taken from the folder of the
    definition: `sqlite:///tickets.db`.
    """
    password: Secret | None = Field(default=None, examples=["${TICKETS_PASSWORD}"])
    """The password, where the URL has none."""
    key: Annotated[Columns, Field(max_length=MOST_KEYS)] = Field(examples=[["id"]])
    """Columns that together tell each row from all others and never change, eight at most."""
    text: Columns = Field(examples=[["title", "body"]])
    """Columns that hold the document: texts are put one below the other; a document in bytes stands alone."""
    media_type: ColumnName | None = Field(default=None, examples=["mime"])
    """A column with the media type of what `text` holds (`application/pdf`), or with its file name (`report.pdf`).
    Without it texts are plain, and bytes are judged by themselves."""
    display_url: Annotated[str, AfterValidator(_check_template)] | None = Field(
        default=None, examples=["https://tickets.example.com/{id}"]
    )
    """What hits lead to: a URL with columns in braces, whose values are percent-encoded; one column alone (`{url}`) is
    taken as it is."""
    repeated: Mapping[ColumnName, RepeatedSection] = Field(
        default={}, examples=[{"tag": {"table": "ticket_tags", "key": "ticket_id", "value": "tag"}}]
    )
    """Document attributes with several values out of rows of other tables; `attributes` maps their names."""
    value_lists: Mapping[Annotated[str, Field(min_length=1, max_length=100)], ValueListSection] = Field(
        default={}, examples=[{"Status": {"table": "statuses", "value": "code", "display": "label"}}]
    )
    """Lists of values of search attributes, read once a crawl."""
    changes: ChangesSection = Field(
        default=ChangesSection.by_default(), examples=[{"column": "changed"}, {"log": "tickets_log"}]
    )
    """How changed rows are found."""
    acl_column: ColumnName | None = Field(default=None, examples=["readers"])
    """A column with users and groups that may see the row, one a line, or a name of `repeated`."""
    owner_column: ColumnName | None = Field(default=None, examples=["owner"])
    """A column with the owner of the row."""

    @model_validator(mode="after")
    def _text_is_no_attribute(self) -> Self:
        texts = {name.lower() for name in self.text}
        mapped = [name for name in getattr(self, "attributes", {}) if name.lower() in texts]
        if mapped:
            raise mistake(
                f"the text column {format_names(mapped)} is mapped to an attribute as well",
                "take it out of `attributes`, or out of `text`",
            )
        return self

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        for name, one in self.repeated.items():
            if len(one.key) != len(self.key):
                raise mistake(
                    f"`repeated.{name}` has {len(one.key)} key columns, and the source {len(self.key)}",
                    "write as many, in the order of `key`",
                )
        if self.changes.log is not None and self.table is None:
            raise mistake("a query has no log of changes", "write `table`, or take `changes.log` out")
        return self
