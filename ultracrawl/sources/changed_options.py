"""The options of a section that differ from their defaults, as data: for definition files and for digests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule
from ultracrawl.rules.schedules.times import Step
from ultracrawl.sources.durations import parse_interval
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.reading.tree import Data
from ultracrawl.sources.sections.section import Section

_SEPARATORS = "@#|~!%;,"


def changed_options(
    section: BaseModel, default: BaseModel, skip: Iterable[str] = (), *, for_documents: bool = False
) -> dict[str, Data]:
    """Return the options of a section that differ from those of `default`.

    With `for_documents`, options that only affect fetching are left out, at all levels.
    """
    changed: dict[str, Data] = {}
    for name, info in type(section).model_fields.items():
        value, usual = getattr(section, name), getattr(default, name, None)
        if name in skip or value == usual or (for_documents and _only_fetches(section, name)):
            continue
        key = info.alias or name
        if isinstance(value, BaseModel) and isinstance(usual, BaseModel):
            if inner := changed_options(value, usual, for_documents=for_documents):
                changed[key] = inner
        else:
            changed[key] = _option_data(value, info, for_documents=for_documents)
    return changed


def _option_data(value: Any, info: FieldInfo, *, for_documents: bool = False) -> Data:
    if value is not None and _is_interval(info):
        return _seconds(value)
    return as_data(value, for_documents=for_documents)


def _written_options(section: BaseModel) -> dict[str, Data]:
    """Return the options that are written, whatever their values."""
    return {
        info.alias or name: _written_options(value)
        if isinstance(value := getattr(section, name), BaseModel)
        else _option_data(value, info)
        for name, info in type(section).model_fields.items()
        if name in section.model_fields_set
    }


def _only_fetches(section: BaseModel, option: str) -> bool:
    return isinstance(section, Section) and option in section.fetch_options()


def _is_interval(info: FieldInfo) -> bool:
    return any(getattr(item, "func", None) is parse_interval for item in info.metadata)


def _seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") + " s"


def as_data(value: Any, *, for_documents: bool = False) -> Data:
    """Return a value as YAML data; of sections only the options that differ from their defaults."""
    match value:
        case Section() if value.KEEPS_WRITTEN:
            return _written_options(value)
        case BaseModel():
            return changed_options(value, type(value).model_construct(), for_documents=for_documents)
        case Pattern():
            return as_data(value.written())
        case SecretStr():
            return value.get_secret_value()
        case RewriteRule():
            return _rewrite_rule(value)
        case Enum():
            return as_data(value.value)
        case Mapping():
            return {str(name): as_data(member, for_documents=for_documents) for name, member in value.items()}
        case frozenset() | set():
            return sorted((as_data(member) for member in value), key=str)
        case tuple() | list():
            return [as_data(member, for_documents=for_documents) for member in value]
        case Path() | IPv4Network() | IPv6Network() | Step():
            return str(value)
    assert value is None or isinstance(value, bool | int | float | str)
    return value


def _rewrite_rule(rule: RewriteRule) -> str:
    free = (mark for mark in _SEPARATORS if mark not in rule.pattern + rule.replacement)
    separator = next(free, "\x01")
    return f"{separator}{rule.pattern}{separator}{rule.replacement}{separator}"


def options_text(options: object, base: Path | None, *, sort: bool = False) -> str:
    """Return options as JSON that is equal wherever `base`, the folder of the project, is; None for no project."""
    text = json.dumps(options, sort_keys=sort, default=str)
    if base is None:
        return text
    folder = json.dumps(str(base))[1:-1]
    return text.replace(f'"{folder}"', '"."').replace(f"{folder}/", "")
