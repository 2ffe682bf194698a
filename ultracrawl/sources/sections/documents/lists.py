"""The `lists` of a project: values of search attributes with display names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from ultracrawl.rules.attributes.schema import ListedValue, ValueList
from ultracrawl.sources.mistakes import format_value, mistake


def _text_keys(value: object) -> object:
    """Accept a plain list of values, and keys that YAML reads as numbers or dates."""
    if isinstance(value, list):
        return {_key(member): {} for member in value}
    return {_key(key): names for key, names in value.items()} if isinstance(value, dict) else value


def _key(key: object) -> str:
    if isinstance(key, dict | list | bool) or key is None:
        raise mistake(f"{format_value(key)} is no value of a list", "write a text, a number or a date")
    return str(key)


def _names(value: object) -> object:
    if value is None:
        return {}
    if isinstance(value, str):
        return {"": value}
    return {str(code).lower(): name for code, name in value.items()} if isinstance(value, dict) else value


DisplayNames = Annotated[
    Mapping[str, str], BeforeValidator(_names, json_schema_input_type=str | dict[str, str])
]
"""A name for all languages, or names by language code."""
ListedValues = Annotated[
    Mapping[str, DisplayNames],
    BeforeValidator(_text_keys, json_schema_input_type=list[str] | dict[str, str | dict[str, str] | None]),
]


def value_lists(written: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, ValueList]:
    """Return the lists of a definition by search attribute."""
    return {
        name: ValueList(name, tuple(ListedValue(value, names) for value, names in values.items()))
        for name, values in written.items()
    }
