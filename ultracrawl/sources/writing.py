"""Writes a project as a YAML definition file: only the options that differ from their defaults."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from ultracrawl.rules.boundary.rewriting.rewriting_policy import parse_alias_lines
from ultracrawl.sources.changed_options import as_data, changed_options
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.kinds import find_kind, source_model
from ultracrawl.sources.project import DefinitionHead, Project
from ultracrawl.sources.reading.tree import Data
from ultracrawl.sources.sections.project import FurtherIndex

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
        written = changed_options(section, default, skip=("path",))
        if base is not None or section.path != project.base / default.path:
            written["path"] = str(section.path)
        if written:
            head[name] = written
    if project.indexes:
        head["indexes"] = {name: _index(index) for name, index in project.indexes.items()}
    for name in (
        "destinations",
        "key_file",
        "attributes",
        "searched_attributes",
        "lists",
        "schedules",
        "profiles",
    ):
        if value := getattr(project, name):
            head[name] = as_data(value)
    for name in ("notices", "search", "search_page", "sign_in", "processes"):
        if section := changed_options(getattr(project, name), getattr(defaults, name)):
            head[name] = section
    return head


def _index(index: FurtherIndex) -> dict[str, Data]:
    usual = FurtherIndex(path=index.path)
    place: dict[str, Data] = {"engine": index.engine, "path": str(index.path)}
    return place | changed_options(index, usual, skip=place)


def _source(source: DataSource, folder: Path, base: Path | None) -> dict[str, Data]:
    kind = find_kind(source.type)
    shared = DataSource(name=source.name, **(kind.fixed if kind else {}))
    usual = source_model(kind).model_construct(**dict(shared))
    written = changed_options(source, usual, skip=("name", "parameter_file"))
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
