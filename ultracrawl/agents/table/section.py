"""The options of the kind `table`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.sources.mistakes import format_names, format_value, mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list

DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
"""The package of the driver by the name of the database system."""
DRIVER_EXTRAS = {"postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql"}
"""The extra that installs it."""

MAX_KEY_COLUMNS = 8
"""Columns that a key may have, limited by the columns of a change log."""
PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
"""A column name in braces in a URL template."""


def _check_template(template: str) -> str:
    if not PLACEHOLDER.search(template) or re.search(r"[{}]", PLACEHOLDER.sub("", template)):
        raise mistake(
            f"{format_value(template)} contains no column",
            "write columns in braces, as `https://tickets.example.com/{id}`, or one alone: `{url}`",
        )
    if not template.startswith("{") and not is_display_url(PLACEHOLDER.sub("x", template)):
        raise mistake(
            f"{format_value(template)} makes no URLs that hits can link to",
            "write a template such as `https://tickets.example.com/{id}`",
        )
    return template


def _check_unique(names: tuple[str, ...]) -> tuple[str, ...]:
    lowered = [name.lower() for name in names]
    if duplicate := next((name for name in names if lowered.count(name.lower()) > 1), None):
        raise mistake(f"{format_value(duplicate)} is written twice", "write each column once")
    return names


ColumnName = Annotated[str, Field(min_length=1, max_length=200)]
TableName = Annotated[str, Field(pattern=r"^[^\s.]([^.]*[^\s.])?(\.[^\s.]([^.]*[^\s.])?)?$", max_length=400)]
"""A table or view, or `schema.table`."""
Columns = Annotated[
    tuple[ColumnName, ...], one_or_list(ColumnName), Field(min_length=1), AfterValidator(_check_unique)
]


class Rows(Section):
    """Selects rows: a table, view or query."""

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
    """An attribute with several values, read from rows of another table."""

    key: Annotated[Columns, Field(max_length=MAX_KEY_COLUMNS)] = Field(examples=[["ticket_id"]])
    """Columns with the key of the row that a value belongs to, in the order of `key` of the source."""
    value: ColumnName = Field(examples=["tag"])
    """The column with the value."""


class ValueListSection(Section):
    """Where the list of values of a search attribute is read from."""

    column: ColumnName | None = Field(default=None, examples=["status"])
    """A column of the source; the list is its distinct values."""
    table: TableName | None = Field(default=None, examples=["statuses"])
    """Another table or view."""
    select: str | None = Field(default=None, min_length=1, examples=["SELECT code, label FROM statuses"])
    """A SELECT of values, and optionally of display names in a second column."""
    value: ColumnName | None = Field(default=None, examples=["code"])
    """The column of `table` with the values."""
    display: ColumnName | None = Field(default=None, examples=["label"])
    """The column of `table` with their display names; optional."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if sum(one is not None for one in (self.column, self.table, self.select)) != 1:
            raise mistake(
                "this defines no list, or more than one", "write one of `column`, `table` and `select`"
            )
        if (self.table is None) != (self.value is None):
            raise mistake("`table` and `value` belong together", "write both, or neither")
        if self.display is not None and self.table is None:
            raise mistake("`display` is a column of `table`", "remove it, or write `table` and `value`")
        return self


class ChangesSection(Section):
    """How changed rows are found; by default all rows are read and compared."""

    column: ColumnName | None = Field(default=None, examples=["changed"])
    """A column that changes whenever the row changes: a modification time or a version number."""
    log: TableName | None = Field(default=None, examples=["tickets_log"])
    """A change log: a table into which triggers write the keys of changed rows (`ultracrawl changelog`)."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.column is not None and self.log is not None:
            raise mistake("`column` and `log` exclude each other", "write one of them")
        return self


class TableSection(Rows):
    """The options of a source of the type `table`."""

    ADVICE: ClassVar = {
        **dict.fromkeys(
            ("url", "dsn", "uri", "database", "db", "server", "host"),
            "write `connection: postgresql://reader@db.example.com/tickets`",
        ),
        **dict.fromkeys(("query", "sql", "statement"), "write `select: SELECT id, title, body FROM tickets`"),
    }
    FETCH_OPTIONS: ClassVar = frozenset({"connection", "password", "changes", "value_lists"})

    connection: Secret = Field(examples=["postgresql://reader@db.example.com/tickets", "${TICKETS_DATABASE}"])
    """The URL of the database; the whole URL may be a secret. Paths of SQLite files are relative to the folder of the
    definition: `sqlite:///tickets.db`.
    """
    password: Secret | None = Field(default=None, examples=["${TICKETS_PASSWORD}"])
    """The password, if the URL has none."""
    key: Annotated[Columns, Field(max_length=MAX_KEY_COLUMNS)] = Field(examples=[["id"]])
    """Columns that together identify a row and never change, eight at most."""
    text: Columns = Field(examples=[["title", "body"]])
    """Columns with the document: either text columns, which are joined by blank lines, or one column of bytes."""
    media_type: ColumnName | None = Field(default=None, examples=["mime"])
    """A column with the media type (`application/pdf`) or the file name (`report.pdf`) of the document in `text`.
    Without it text columns are plain text, and the type of bytes is detected."""
    display_url: Annotated[str, AfterValidator(_check_template)] | None = Field(
        default=None, examples=["https://tickets.example.com/{id}"]
    )
    """The URL that hits link to: a template with columns in braces, whose values are percent-encoded; the value of a
    single column (`{url}`) is used unchanged."""
    repeated: Mapping[ColumnName, RepeatedSection] = Field(
        default={}, examples=[{"tag": {"table": "ticket_tags", "key": "ticket_id", "value": "tag"}}]
    )
    """Document attributes with several values, read from rows of other tables; `attributes` maps their names."""
    value_lists: Mapping[Annotated[str, Field(min_length=1, max_length=100)], ValueListSection] = Field(
        default={}, examples=[{"Status": {"table": "statuses", "value": "code", "display": "label"}}]
    )
    """Lists of values of search attributes, read once per crawl."""
    changes: ChangesSection = Field(
        default=ChangesSection.by_default(), examples=[{"column": "changed"}, {"log": "tickets_log"}]
    )
    """How changed rows are found."""
    acl_column: ColumnName | None = Field(default=None, examples=["readers"])
    """A column with the users and groups that may see the row, one per line, or a name of `repeated`."""
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
        for name, section in self.repeated.items():
            if len(section.key) != len(self.key):
                raise mistake(
                    f"`repeated.{name}` has {len(section.key)} key columns, and the source {len(self.key)}",
                    "write as many, in the order of `key`",
                )
        if self.changes.log is not None and self.table is None:
            raise mistake("a query cannot have a change log", "write `table`, or take `changes.log` out")
        return self
