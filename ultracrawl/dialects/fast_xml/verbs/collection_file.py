"""Reads and writes the XML file of collections for `ultracrawl admin`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ultracrawl.cli.options import show_findings
from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.forms.plain import source_name
from ultracrawl.dialects.fast_xml.notices import Notices
from ultracrawl.dialects.fast_xml.reader import load_collections, read_scopes, sources_of
from ultracrawl.dialects.fast_xml.writing import collections_xml
from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError
from ultracrawl.model.finding import FindingCode, refuse_fatal
from ultracrawl.service.control import running_crawl_status
from ultracrawl.settings.locations import with_data_folder, with_location
from ultracrawl.settings.projects import find_state_project, locate_project
from ultracrawl.sources import DataSource, Project, usable_project
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.project_stores import stored_documents_exist, stored_sources
from ultracrawl.system.files import convert_write_errors, replace_file
from ultracrawl.system.replacement import finish_replacement


def file_of(config: str | None) -> Path:
    """Return the XML file named by `-c` or the environment. Raises `UserError`."""
    location, _ = locate_project(config)
    if location is None or Path(location).suffix.lower() != ".xml":
        what = f"{location} is" if location else "there is"
        raise UserError(f"{what} no XML file of collections; name it with -c, or in $ULTRACRAWL_CONFIG")
    return Path(location)


def collections_in(path: Path) -> list[Scope]:
    """Return the collections of a file. Raises `DefinitionError`."""
    notices = Notices(str(path))
    found = read_scopes(path, notices)
    refuse_fatal(notices)
    show_findings(notices)
    return found


def find(name: str, collections: Iterable[Scope]) -> Scope:
    """Return a collection by its name. Raises `UserError` if there is none."""
    by_name = {scope.name: scope for scope in collections}
    if name not in by_name:
        raise _unknown(name, by_name)
    return by_name[name]


def parts_of(name: str, config: str | None) -> tuple[str, ...]:
    """Return the sources of a collection and its sub-collections. Raises `UserError` if there are none."""
    return _parts(name, config)[1]


def project_with_parts(name: str, config: str | None) -> tuple[Project, list[DataSource]]:
    """Return the project, and the definitions of a collection and its sub-collections."""
    project, parts = _parts(name, config)
    return project, [project.known_sources[part] for part in parts]


def running_parts(name: str, config: str | None) -> tuple[str, ...]:
    """Return the sources of a collection that are being crawled; if none is, its own, so that the verb reports it."""
    project = find_state_project(config)
    if project.mistakes:  # the file cannot be read: the state has the collection and its sub-collections
        stored = stored_sources(project)
        own = source_name(name)
        parts = tuple(one for one in stored if one == own or one.startswith(f"{own}."))
    else:
        parts = ()
    parts = parts or _parts(name, config)[1]
    return tuple(part for part in parts if running_crawl_status(project, part)) or parts[:1]


def stored_parts(name: str, config: str | None) -> tuple[str, ...]:
    """Return the sources of a collection with stored documents; if none has any, its own, for the report."""
    project, parts = _parts(name, config)
    found = (part for part in parts if stored_documents_exist(project, project.known_sources[part]))
    return tuple(found) or parts[:1]


def all_parts(name: str, config: str | None) -> tuple[Project, tuple[str, ...]]:
    """Return the project, and the sources of a collection, those included that cannot be crawled."""
    return _project(config), sources_of(file_of(config)).get(name, ())


def _project(config: str | None) -> Project:
    file = file_of(config)
    project = with_data_folder(usable_project(read_definitions(file)), locate_project(config)[1])
    finish_replacement(project.state.path)
    return with_location(project, file)


def _parts(name: str, config: str | None) -> tuple[Project, tuple[str, ...]]:
    file, project = file_of(config), _project(config)
    if project.mistakes:
        raise DefinitionError(project.mistakes)
    found = sources_of(file)
    if name not in found:
        raise _unknown(name, found)
    parts = tuple(part for part in found[name] if part in project.known_sources)
    if not parts:
        raise UserError(f"the collection `{name}` has no start URI, so there is nothing to crawl")
    return project, parts


def _unknown(name: str, known: Iterable[str]) -> UserError:
    return UserError(f"there is no collection `{name}`; there are {', '.join(sorted(known)) or 'none'}")


def check(target: Path, collections: list[Scope], added: str) -> None:
    """Raise `DefinitionError` if the collections cannot be used together; print findings on the added file."""
    loaded = load_collections(target, collections, Notices(str(target)))
    if loaded.project is None and not all(finding.code is FindingCode.NO_START for finding in loaded.fatal):
        raise DefinitionError(loaded.fatal)
    show_findings(finding for finding in loaded.findings if finding.file == added)


def write(path: Path, collections: list[Scope]) -> None:
    """Replace the file atomically; a new one is readable by its owner only."""
    with convert_write_errors(path):
        replace_file(path, collections_xml(collections).encode())
