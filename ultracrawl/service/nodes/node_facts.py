"""What a node tells of itself: its program, digests of what it would crawl, and what its machine has."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from packaging.version import InvalidVersion, Version

from ultracrawl import __version__
from ultracrawl.content.converters.registry import converter_table
from ultracrawl.errors import UltracrawlError
from ultracrawl.index.writing.cache import place_of
from ultracrawl.run import rendering
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.changed_options import changed_options, options_text
from ultracrawl.sources.kinds import kept_attributes
from ultracrawl.stores.port.node_store import KeptNode, NodeFacts


def facts_of(project: Project, files: Mapping[str, str]) -> NodeFacts:
    """Return the facts of this machine for a project; `files` are the digests of its definition files."""
    digests = {name: source_digest(project, source) for name, source in project.sources.items()}
    capabilities = {"browser": _browsers(), "converters": _converters(), "mounts": _mounts(project)}
    place = place_of(project.cache.path)
    return NodeFacts(socket.gethostname(), __version__, digests, files, capabilities, place=place)


def source_digest(project: Project, source: DataSource) -> str:
    """Return the digest of all that a source is compiled from, equal wherever the folder of the project is.

    Compiling itself takes twenty times as long, and adds nothing that is not in here.
    """
    options = changed_options(source, type(source).model_construct(name=source.name))
    filled = project.attributes if kept_attributes(source) else {*source.attributes.values()}
    kinds = {name: project.attributes.get(name) for name in filled}
    searched = [name for name in project.searched_attributes if name in filled]
    text = options_text([options, kinds, searched], project.base, sort=True)
    return sha256(text.encode()).hexdigest()[:32]


def differing_files(own: Mapping[str, str], released: Mapping[str, str]) -> list[str]:
    """Return the names of the files that differ, or that one of the two does not have."""
    return sorted(name for name in {*own, *released} if own.get(name) != released.get(name))


def age_of(node: KeptNode) -> tuple[int, Version]:
    """Return how new the program of a node is: the number of its tables, and its version."""
    try:
        return node.schema, Version(node.facts.program)
    except InvalidVersion:
        return node.schema, Version("0")


def _browsers() -> list[str]:
    with suppress(UltracrawlError):
        return [rendering.browser_program(None)]
    return []


def _converters() -> list[str]:
    """Return the last words of the modules that can convert documents here."""
    usable = (one for one in converter_table().by_type.values() if all(map(find_spec, one.needs)))
    return sorted({one.module.rpartition(".")[2] for one in usable})


def _mounts(project: Project) -> list[str]:
    """Return the local folders of file sources that are here."""
    folders = {folder for source in project.sources.values() for folder in getattr(source, "folders", ())}
    return sorted(str(folder) for folder in folders if Path(project.base, folder).exists())
