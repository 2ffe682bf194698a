"""Sources made up by `crawl --url`: remembered beside their data, so that the other verbs know them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ultracrawl.errors import WorkError
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.settings.places import ADHOC_FILE
from ultracrawl.sources import DataSource, Project, adhoc_project, load_project, require

FOLDERS = {"index": "index", "state": "state", "cache": "cache", "documents": "documents", "logs": "log"}
"""Where data lie, seen from the folder of the file: where they lie without one."""
HEAD = "# Written by `ultracrawl crawl --url`. Copy a source into ultracrawl.yaml to set its options.\n"


def remembered(base: Path) -> Project | None:
    """Return the project of all sources that were crawled by URL below `base`, None if there are none."""
    path = base / ADHOC_FILE
    return require(load_project(path)) if path.is_file() else None


def remember(urls: tuple[str, ...], base: Path) -> tuple[Project, DataSource]:
    """Add a source for some URLs and return it with its project. Raises `UserError` for a text that is no URL."""
    made = next(iter(adhoc_project(urls, base).sources.values()))
    known = remembered(base)
    sources = {name: list(source.start_urls) for name, source in known.sources.items()} if known else {}
    sites = set(map(site_of, made.start_urls))
    same = (name for name, starts in sources.items() if set(map(site_of, starts)) == sites)
    name = made.name if made.name in sources else next(same, made.name)  # one that had another name before
    sources[name] = list(dict.fromkeys([*sources.get(name, ()), *made.start_urls]))
    project = remembered(base) if _write(base / ADHOC_FILE, sources) else known
    assert project is not None
    return project, project.sources[name]


def _write(path: Path, sources: dict[str, list[str]]) -> bool:
    """Write what is to be remembered; returns False if the file says so already, for which it stays as it is."""
    definition: dict[str, Any] = dict(FOLDERS)
    definition[
        "sources"
    ] = {  # a section of its own for each, or YAML would write it once, and then refer to it
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
