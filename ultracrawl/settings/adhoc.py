"""Sources created by `crawl --url`: stored in a definition file beside their data, so that other verbs know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from ultracrawl.errors import UserError
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, site_of
from ultracrawl.settings.locations import ADHOC_FILE, with_location
from ultracrawl.sources import (
    DataSource,
    Project,
    adhoc_boundary,
    adhoc_project,
    load_project,
    require,
    usable_project,
)
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.system.files import convert_write_errors, replace_file

FOLDERS = {"index": "index", "state": "state", "cache": "cache", "documents": "documents", "logs": "log"}
"""The default data folders, relative to the folder of the file."""
HEAD = "# Written by `ultracrawl crawl --url`. Copy a source into ultracrawl.yaml to set its options.\n"


def load_adhoc_project(base: Path) -> Project | None:
    """Return the project of all sources created by `crawl --url` in the folder `base`, None if there are none."""
    path = base / ADHOC_FILE
    return with_location(require(load_project(path)), path) if path.is_file() else None


def with_adhoc_sources(project: Project) -> Project:
    """Return the project of definitions with the sources that `crawl --url` created and that have its state.

    A file of them that cannot be read is ignored, as it is not the one that was asked for.
    """
    track_file(_file_of(project))
    if _is_own_file(project):
        return project
    found, known = _remembered(project), project.known_sources
    others = {name: source for name, source in found.items() if name not in known}
    return project.model_copy(update={"adhoc_sources": others}) if others else project


def add_adhoc_source(urls: tuple[str, ...], base: Path) -> tuple[Project, DataSource]:
    """Add a source for some URLs and return it with its project. Raises `UserError` for an invalid URL."""
    new = next(iter(adhoc_project(urls, base).sources.values()))
    known = load_adhoc_project(base)
    sources = {name: list(source.start_urls) for name, source in known.sources.items()} if known else {}
    same = (name for name, starts in sources.items() if sites_of(starts) == sites_of(new.start_urls))
    name = (
        new.name if new.name in sources else next(same, new.name)
    )  # else one of the same sites with another name
    sources[name] = list(dict.fromkeys([*sources.get(name, ()), *new.start_urls]))
    project = load_adhoc_project(base) if _write(base / ADHOC_FILE, sources) else known
    assert project is not None
    return project, project.sources[name]


def is_adhoc(project: Project, name: str) -> bool:
    """Return whether `crawl --url` made a source, and no definition has it."""
    return name in project.adhoc_sources or (_is_own_file(project) and name in project.sources)


def forget_adhoc_source(project: Project, name: str, new_name: str = "") -> None:
    """Remove a source of `crawl --url` from its file, or give it another name there; does nothing if there is none.

    Raises `WorkError`.
    """
    found, path = _remembered(project), _file_of(project)
    if name not in found:
        return
    names = {old: new_name if old == name else old for old in found}
    left = {names[old]: list(source.start_urls) for old, source in found.items() if names[old]}
    if left:
        _write(path, left)
        return
    with convert_write_errors(path):
        path.unlink(missing_ok=True)


def _file_of(project: Project) -> Path:
    """Return the file of `crawl --url` whose sources have the state of a project; it need not exist."""
    return project.state.path.parent / ADHOC_FILE.name


def _is_own_file(project: Project) -> bool:
    """Return whether the file of `crawl --url` is all that a project was read from."""
    return project.definitions == str(_file_of(project))


def _remembered(project: Project) -> Mapping[str, DataSource]:
    """Return the sources of `crawl --url` by name; none if their file cannot be read or has another state."""
    path = _file_of(project)
    if path.is_file():
        with suppress(UserError):
            found = usable_project(load_project(path))
            if found.state.path == project.state.path:
                return found.sources
    return {}


def sites_of(urls: Iterable[str]) -> frozenset[str]:
    """Return the sites of some URLs, as they are written; those that are no URLs are left out."""
    return frozenset(site_of(url) for url in map(DEFAULT_POLICY.canonical, urls) if url is not None)


def _write(path: Path, sources: dict[str, list[str]]) -> bool:
    """Write the definition file; returns False, without writing, if it has this content already."""
    definition: dict[str, Any] = dict(FOLDERS)
    # A dict of its own for each `boundary`: for a shared one YAML writes an anchor and aliases.
    definition["sources"] = {
        name: {"start_urls": urls, "boundary": adhoc_boundary(urls)} for name, urls in sources.items()
    }
    text = HEAD + yaml.safe_dump(definition, sort_keys=False, allow_unicode=True)
    with convert_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.read_bytes() == text.encode():
            return False
        replace_file(path, text.encode())
    return True
