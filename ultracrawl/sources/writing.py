"""Writes a project as a YAML definition file: only the options that differ from their defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule
from ultracrawl.rules.boundary.rewriting.rewriting_policy import parse_alias_lines
from ultracrawl.rules.schedules.times import Step
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.durations import parse_interval
from ultracrawl.sources.kinds import find_kind, source_model
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.project import DefinitionHead, Project
from ultracrawl.sources.reading.tree import Data

_SEPARATORS = "@#|~!%;,"
_STORAGE_SECTIONS = ("index", "state", "cache", "documents", "logs")


def definition_text(project: Project, folder: Path) -> str:
    """Return the text of a definition file equivalent to a project, to be saved in `folder`.

    Options with their default value are omitted. If `folder` is not that of the project, paths are absolute.
    Rules read from files are written out; for start URLs and host aliases the files are named.
    """
    base = None if folder.absolute() == project.base else project.base
    sources = {name: _source(source, project.base, base) for name, source in project.sources.items()}
    text = yaml.safe_dump(
        {**_head(project, base), "sources": sources}, sort_keys=False, allow_unicode=True, width=110
    )
    return str(text)


def _head(project: Project, base: Path | None) -> dict[str, Data]:
    defaults = DefinitionHead()
    head: dict[str, Data] = {}
    for name in _STORAGE_SECTIONS:
        section, default = getattr(project, name), getattr(defaults, name)
        written = _section(section, default, skip=("path",))
        if base is not None or section.path != project.base / default.path:
            written["path"] = str(section.path)
        if written:
            head[name] = written
    if project.indexes:
        head["indexes"] = {
            name: {"engine": index.engine, "path": str(index.path)} for name, index in project.indexes.items()
        }
    for name in ("destinations", "key_file", "attributes", "lists", "schedules", "profiles"):
        if value := getattr(project, name):
            head[name] = _plain(value)
    for name in ("notices", "search", "search_page", "processes"):
        if section := _section(getattr(project, name), getattr(defaults, name)):
            head[name] = section
    return head


def _source(source: DataSource, folder: Path, base: Path | None) -> dict[str, Data]:
    kind = find_kind(source.type)
    shared = DataSource(name=source.name, **(kind.fixed if kind else {}))
    usual = source_model(kind).model_construct(**dict(shared))
    written = _section(source, usual, skip=("name", "parameter_file"))
    _without_urls_of_files(written, "start_urls", _urls_of_files(source.start_url_files, folder))
    feeds = written.get("feeds")
    if isinstance(feeds, dict):
        _without_urls_of_files(feeds, "urls", _urls_of_files(source.feeds.url_files, folder))
    if source.sites.alias_files:
        _without_aliases_of_files(written, source, folder)
    if base is not None:
        _absolute(written, base)
    elif source.filters.file is not None:
        _relative(written, source, folder)
    return written


def _relative(written: dict[str, Data], source: DataSource, folder: Path) -> None:
    """Make the paths of filter files relative to the folder of the definition, if they are below it."""
    filters, instance = written["filters"], source.filters.instance
    assert isinstance(filters, dict)
    for name in ("file", "classification", "programs"):
        path = Path(str(filters[name])) if name in filters else None
        if path is not None and path.is_relative_to(instance):
            filters[name] = str(path.relative_to(instance))
    if instance == folder:
        del filters["instance"]
    elif instance.is_relative_to(folder):
        filters["instance"] = str(instance.relative_to(folder))


def _without_urls_of_files(group: dict[str, Data], name: str, listed: set[str]) -> None:
    urls = group.get(name)
    if listed and isinstance(urls, list):
        group[name] = [url for url in urls if url not in listed]
        if not group[name]:
            del group[name]


def _urls_of_files(names: Iterable[str], folder: Path) -> set[str]:
    lines = (line.strip() for name in names for line in _lines(folder / name))
    return {line for line in lines if line and not line.startswith("#")}


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").splitlines()


def _without_aliases_of_files(written: dict[str, Data], source: DataSource, folder: Path) -> None:
    sites = written["sites"]
    assert isinstance(sites, dict)
    texts = ((folder / name).read_text(encoding="utf-8-sig") for name in source.sites.alias_files)
    listed = {alias for text in texts for _, hosts in parse_alias_lines(text) for alias in hosts[1:]}
    own: dict[str, Data] = {
        alias: main for alias, main in source.sites.aliases.items() if alias not in listed
    }
    sites["aliases"] = own
    if not own:
        del sites["aliases"]


def _absolute(written: dict[str, Data], base: Path) -> None:
    """Make the names of files absolute that are relative to the folder of the definition."""
    sites, feeds = written.get("sites"), written.get("feeds")
    for group, name in ((written, "start_url_files"), (sites, "alias_files"), (feeds, "url_files")):
        names = group.get(name) if isinstance(group, dict) else None
        if isinstance(group, dict) and isinstance(names, list):
            group[name] = [str(base / str(member)) for member in names]


# ---- values


def _section(section: BaseModel, default: BaseModel, skip: Iterable[str] = ()) -> dict[str, Data]:
    """Return the options of a section that differ from those of `default`."""
    written: dict[str, Data] = {}
    for name, info in type(section).model_fields.items():
        value, usual = getattr(section, name), getattr(default, name, None)
        if name in skip or value == usual:
            continue
        key = info.alias or name
        if isinstance(value, BaseModel) and isinstance(usual, BaseModel):
            written[key] = _section(value, usual)
        else:
            written[key] = _seconds(value) if value is not None and _is_interval(info) else _plain(value)
    return written


def _is_interval(info: FieldInfo) -> bool:
    return any(getattr(item, "func", None) is parse_interval for item in info.metadata)


def _seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") + " s"


def _plain(value: Any) -> Data:
    """Return a value as YAML data."""
    match value:
        case BaseModel():
            return _section(value, type(value).model_construct())
        case Pattern():
            return _plain(value.written())
        case SecretStr():
            return value.get_secret_value()
        case RewriteRule():
            return _rewrite_rule(value)
        case Enum():
            return _plain(value.value)
        case Mapping():
            return {str(name): _plain(member) for name, member in value.items()}
        case frozenset() | set():
            return sorted((_plain(member) for member in value), key=str)
        case tuple() | list():
            return [_plain(member) for member in value]
        case Path() | IPv4Network() | IPv6Network() | Step():
            return str(value)
    assert value is None or isinstance(value, bool | int | float | str)
    return value


def _rewrite_rule(rule: RewriteRule) -> str:
    free = (mark for mark in _SEPARATORS if mark not in rule.pattern + rule.replacement)
    separator = next(free, "\x01")
    return f"{separator}{rule.pattern}{separator}{rule.replacement}{separator}"
