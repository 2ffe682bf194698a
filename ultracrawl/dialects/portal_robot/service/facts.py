"""Versions and the effective configuration of a robot, for its report (portal robot 18)."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from ultracrawl import __version__
from ultracrawl.dialects.portal_robot.properties import PROPERTIES
from ultracrawl.dialects.portal_robot.reader import RobotFiles, read_files
from ultracrawl.errors import UserError
from ultracrawl.sources import Project
from ultracrawl.sources.filter_files.layout import main_file_beside
from ultracrawl.sources.filter_files.lexer import Block

_LIBRARIES = ("Scrapy", "Twisted", "lxml", "Whoosh-Reloaded", "tantivy", "pycurl", "google-re2")
_USER = re.compile(r"//[^/@\s]*@")
_HIDDEN = frozenset({"password", "register-password"})


class Fact(NamedTuple):
    """A line of the report; `given` is the origin of a configured value."""

    name: str
    value: str
    given: str = ""


def versions(project: Project) -> Iterator[Fact]:
    """Yield the versions of the program, Python, the system and the installed libraries."""
    yield Fact("ultracrawl", __version__)
    yield Fact("Python", platform.python_version())
    yield Fact("system", f"{platform.system()} {platform.release()} ({platform.machine()})")
    for name in _LIBRARIES:
        try:
            yield Fact(name, version(name))
        except PackageNotFoundError:
            continue
    yield Fact("index", f"{project.index.engine} in {project.index.path}")
    yield Fact("state", f"{project.state.engine} in {project.state.path}")


def configuration(location: Path) -> Iterator[Fact]:
    """Yield files, properties, filters, sites and rules of a robot. Raises `UserError` if there is no robot.conf."""
    files = _files_at(location)
    main = files.location
    yield Fact("file", str(main.absolute()))
    yield Fact("instance", str(files.instance))
    for name, known in PROPERTIES.items():
        line = files.properties.lines.get(name)
        given = "default" if line is None else f"line {line}"
        yield Fact(name, _shown(name, files.properties[name]), f"{given}, no effect" if known.idle else given)
    yield from _filters(files)
    rules = files.rules
    for site in rules.sites:
        starts = sum(start.enabled for start in site.starts)
        uses = sum(use.enabled for use in site.uses)
        told = f"{site.kind}, {len(site.hosts)} hosts, {starts} starting points, {uses} rules"
        yield Fact(f"site {site.name}", told, "on" if site.enabled else "off")
    on = sum(rule.enabled for rule in rules.rules)
    yield Fact("filter rules", f"{len(rules.rules)}, {on} of them on")
    yield Fact("findings", f"{len(files.findings)}; `ultracrawl lint` shows them")


def _files_at(location: Path) -> RobotFiles:
    """Return the files of the robot that a file or folder belongs to. Raises `UserError`."""
    beside = main_file_beside(location / "robot.conf" if location.is_dir() else location)
    for main in filter(None, (location if location.is_file() else None, beside)):
        files = read_files(main)
        if "process" in files.block_kinds:
            return files
    raise UserError(f"{location} is no robot.conf; `ultracrawl status` shows sources of other definitions")


def _filters(files: RobotFiles) -> Iterator[Fact]:
    blocks = files.filters.filters if files.filters is not None else {}
    for kind in ("enumeration-filter", "generation-filter"):
        name = files.properties[kind]
        block = blocks.get(name)
        yield Fact(f"filter {name}", "missing" if block is None else _phases(block), kind.partition("-")[0])


def _phases(block: Block) -> str:
    words = [one.word for one in block.directives]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words)) or "empty"


def _shown(name: str, value: object) -> str:
    if value in (None, "", ()):
        return "none"
    if name in _HIDDEN:
        return "********"
    if isinstance(value, str):
        return _USER.sub("//", value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
