"""Sources created by `crawl --url`: stored in a definition file beside their data, so that other verbs know them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ultracrawl.errors import WorkError
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.settings.locations import ADHOC_FILE
from ultracrawl.sources import DataSource, Project, adhoc_project, load_project, require

FOLDERS = {"index": "index", "state": "state", "cache": "cache", "documents": "documents", "logs": "log"}
"""The default data folders, relative to the folder of the file."""
HEAD = "# Written by `ultracrawl crawl --url`. Copy a source into ultracrawl.yaml to set its options.\n"


def load_adhoc_project(base: Path) -> Project | None:
    """Return the project of all sources created by `crawl --url` in the folder `base`, None if there are none."""
    path = base / ADHOC_FILE
    return require(load_project(path)) if path.is_file() else None


def add_adhoc_source(urls: tuple[str, ...], base: Path) -> tuple[Project, DataSource]:
    """Add a source for some URLs and return it with its project. Raises `UserError` for an invalid URL."""
    new = next(iter(adhoc_project(urls, base).sources.values()))
    known = load_adhoc_project(base)
    sources = {name: list(source.start_urls) for name, source in known.sources.items()} if known else {}
    sites = set(map(site_of, new.start_urls))
    same = (name for name, starts in sources.items() if set(map(site_of, starts)) == sites)
    name = (
        new.name if new.name in sources else next(same, new.name)
    )  # else one of the same sites with another name
    sources[name] = list(dict.fromkeys([*sources.get(name, ()), *new.start_urls]))
    project = load_adhoc_project(base) if _write(base / ADHOC_FILE, sources) else known
    assert project is not None
    return project, project.sources[name]


def _write(path: Path, sources: dict[str, list[str]]) -> bool:
    """Write the definition file; returns False, without writing, if it has this content already."""
    definition: dict[str, Any] = dict(FOLDERS)
    # A dict of its own for each `boundary`: for a shared one YAML writes an anchor and aliases.
    definition["sources"] = {
        name: {"start_urls": urls, "boundary": {"start_redirects": True}} for name, urls in sources.items()
    }
    text = HEAD + yaml.safe_dump(definition, sort_keys=False, allow_unicode=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.read_bytes() == text.encode():
            return False
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WorkError(f"cannot write {path}: {error.strerror}") from error
    return True
