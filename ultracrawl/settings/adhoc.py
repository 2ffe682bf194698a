"""Sources created by `crawl --url`: stored in a definition file beside their data, so that other verbs know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import yaml
from pydantic import ValidationError

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, path_of, site_of
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
from ultracrawl.sources.compilation.boundary import compile_boundary
from ultracrawl.sources.loading.wording import explain
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.sources.sections.crawl_options import CrawlOptions
from ultracrawl.sources.sections.scope.boundary import BoundarySection
from ultracrawl.system.files import convert_write_errors, replace_file

FOLDERS = {"index": "index", "state": "state", "cache": "cache", "documents": "documents", "logs": "log"}
"""The default data folders, relative to the folder of the file."""
HEAD = "# Written by `ultracrawl crawl --url`. Copy a source into ultracrawl.yaml to set its options.\n"
_TYPED = {"only": "--path", "exclude": "--exclude"}
"""What is typed for an option of the file."""
NONE = "none"
"""What is typed to drop a restriction that is stored."""


@dataclass(frozen=True, slots=True)
class AdhocScope:
    """The restrictions that `crawl URL` was given, as they are typed; `none` drops a stored one, empty ones keep it."""

    paths: tuple[str, ...] = ()
    """The only paths to crawl."""
    exclude: tuple[str, ...] = ()
    """Paths to leave out."""
    depth: str = ""
    """Link steps from the start URLs."""
    documents: str = ""
    """Number of documents from which on no new URLs are crawled."""
    public: bool = False
    """Everybody may search it; if not, what is stored stays."""
    delay: float | None = None
    """Seconds between two requests to its site; None keeps what is stored."""

    def applied_to(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a source as its file has them, with these restrictions."""
        limits = dict(entry.get("limits", {}))
        _put(limits, "documents", self.documents and _number(self.documents))
        politeness = dict(entry.get("politeness", {}))
        _put(politeness, "delay", "" if self.delay is None else self.delay)
        changed = dict(entry)
        for name, value in (
            ("only", list(self.paths)),
            ("exclude", list(self.exclude)),
            ("depth", self.depth and _number(self.depth)),
            ("public", self.public or ""),
        ):
            _put(changed, name, value)
        sections = {"limits": limits, "politeness": politeness}
        for name in sections:
            changed.pop(name, None)
        return changed | {name: section for name, section in sections.items() if section}


def _number(text: str) -> int | str:
    return text if text == NONE else int(text)


def _put(options: dict[str, Any], name: str, value: object) -> None:
    """Set an option, or remove it for `none`; an empty text or list changes nothing."""
    if value in (NONE, [NONE]):
        options.pop(name, None)
    elif value not in ("", []):
        options[name] = value


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


def add_adhoc_source(
    urls: tuple[str, ...], base: Path, scope: AdhocScope = AdhocScope()
) -> tuple[Project, DataSource]:
    """Add a source for some URLs and return it with its project.

    What was stored of it stays, unless `scope` replaces it. Raises `UserError` for an invalid URL or path, and for
    URLs that are outside of the scope.
    """
    new = next(iter(adhoc_project(urls, base).sources.values()))
    known = load_adhoc_project(base)
    sources = {name: source.start_urls for name, source in known.sources.items()} if known else {}
    same = (name for name, starts in sources.items() if sites_of(starts) == sites_of(new.start_urls))
    name = (
        new.name if new.name in sources else next(same, new.name)
    )  # else one of the same sites with another name
    entries = _entries(base / ADHOC_FILE)
    entry = scope.applied_to(entries.get(name, {}))
    paths, excluded = _checked_paths(entry)
    starts = starts_below([*sources.get(name, ()), *new.start_urls], paths)
    written = adhoc_boundary(starts)
    restricted = new.model_copy(
        update={
            "start_urls": starts,
            "only": paths,
            "exclude": excluded,
            "boundary": BoundarySection.model_validate(written),
        }
    )
    boundary = compile_boundary(restricted)
    for url in starts:
        if rule := boundary.rejects(url):
            raise UserError(f"{url} would not be crawled: {rule}; start at a URL that --exclude leaves")
    entries[name] = entry | {"start_urls": list(starts), "boundary": written}
    project = load_adhoc_project(base) if _write(base / ADHOC_FILE, entries) else known
    assert project is not None
    return project, project.sources[name]


def adhoc_options(urls: Iterable[str], base: Path) -> dict[str, Any]:
    """Return the options with which `crawl URL` in the folder `base` was restricted to a part of the sites of URLs."""
    sites = sites_of(urls)
    for entry in _entries(base / ADHOC_FILE).values():
        if sites_of(entry.get("start_urls", ())) == sites:
            return {name: value for name, value in entry.items() if name not in ("start_urls", "boundary")}
    return {}


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
    left = {names[old]: entry for old, entry in _entries(path).items() if names.get(old)}
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


def delay_of_one_site(sources: Sequence[DataSource]) -> float:
    """Return the seconds between two requests of sources that have one site together; 0 for others."""
    sites = {site for source in sources for site in sites_of(source.start_urls)}
    return sources[0].politeness.delay if len(sites) == 1 else 0.0


def _checked_paths(entry: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return `only` and `exclude` of a source. Raises `UserError` for what is no path."""
    try:
        options = CrawlOptions.model_validate({name: entry[name] for name in _TYPED if name in entry})
    except ValidationError as error:
        found = explain(error, CrawlOptions)
        raise UserError(
            "; ".join(f"{_TYPED[str(path[0])]}: {problem}; {instead}" for path, problem, instead in found)
        ) from None
    return options.only, options.exclude


def starts_below(urls: Iterable[str], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return where to start: the URLs, but for one outside of `paths` these paths on its site."""
    starts: list[str] = []
    for url in urls:
        is_inside = not paths or path_of(url).startswith(paths)
        below = (DEFAULT_POLICY.canonical(urljoin(url, path)) for path in paths)
        starts += [url] if is_inside else filter(None, below)
    return tuple(dict.fromkeys(starts))


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """Return the sources of the file as they are written there; none if there is no such file."""
    written = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None
    return dict((written or {}).get("sources") or {})


def _write(path: Path, sources: Mapping[str, Mapping[str, Any]]) -> bool:
    """Write the definition file; returns False, without writing, if it has this content already."""
    definition = {**FOLDERS, "sources": sources}
    text = HEAD + yaml.safe_dump(definition, sort_keys=False, allow_unicode=True)
    with convert_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.read_bytes() == text.encode():
            return False
        replace_file(path, text.encode())
    return True
