"""Recognises the format of a definition file and calls its reader; a new format is one entry in `DIALECTS`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.model import Finding
from ultracrawl.sources.reading.locations import PROJECT_FILE

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded

ENVIRONMENT = "ULTRACRAWL_CONFIG"
_HEAD = 65_536
"""Bytes examined at the beginning of a file; some files begin with a long comment."""
_XML = re.compile(rb"\s*(<\?xml|<!DOCTYPE|<!--|<[A-Za-z])")
_COMMENTS = rb"(?:\s*#[^\r\n]*[\r\n])*\s*"
_ROBOT_CONF = re.compile(_COMMENTS + rb"<Process[\s>\\]", re.IGNORECASE)
_ROBOT_PART = re.compile(_COMMENTS + rb"(<(Filter|FilterRule|Site)|Classify|Setup)\s", re.IGNORECASE)
_PROCESS = re.compile(rb"(?:\A|[\r\n])\s*<Process[\s>\\]", re.IGNORECASE)
_ROBOT_FILES = frozenset(
    {"robot.conf", "process.conf", "filter.conf", "filterrules.conf", "classification.conf"}
)
"""Names of robot files, for files whose content does not show it, as those with comments only."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A format: a predicate on the first bytes of a file, and the reader of a location."""

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[str | Path], Loaded]


def read_definitions(location: str | Path) -> Loaded:
    """Read the definitions of a location in any format; folders and packages contain YAML."""
    return _dialect_of(Path(location)).read(location)


def is_yaml(location: str | Path) -> bool:
    """Whether the definitions of a location are YAML, which does not depend on the machine that reads it."""
    return _dialect_of(Path(location)) is DIALECTS[-1]


def locate_definitions(setting: str | Path | None = None) -> str | None:
    """Return the location of definitions: `setting`, `$ULTRACRAWL_CONFIG`, `ultracrawl.yaml` here, or None."""
    named = setting or os.environ.get(ENVIRONMENT)
    if named:
        return str(named)
    return PROJECT_FILE if Path(PROJECT_FILE).is_file() else None


def _dialect_of(path: Path) -> Dialect:
    head = _head_of(path)
    found = next(dialect for dialect in DIALECTS if dialect.recognises(head))
    if found is DIALECTS[-1] and path.name.lower() in _ROBOT_FILES and path.is_file():
        return _PART
    return found


def _head_of(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError:
        return b""


def _plain(head: bytes) -> bytes:
    """Return the beginning of a file without byte-order mark and without the zero bytes of UTF-16."""
    return (
        head.removeprefix(b"\xef\xbb\xbf")
        .removeprefix(b"\xff\xfe")
        .removeprefix(b"\xfe\xff")
        .replace(b"\0", b"")
    )


def _read_robot(location: str | Path) -> Loaded:
    from ultracrawl.sources.dialects.portal_robot.reader import read_robot  # noqa: PLC0415 - only its users wait for it

    return read_robot(location)


def _read_robot_part(location: str | Path) -> Loaded:
    """Read the robot that a file belongs to: the file itself if it has all blocks, else `robot.conf` beside it."""
    from ultracrawl.sources.dialects.portal_robot.layout import main_file_beside  # noqa: PLC0415 - as above

    path = Path(location)
    if _PROCESS.search(_plain(path.read_bytes())):
        return _read_robot(location)
    main = main_file_beside(path)
    if main is not None:
        return _read_robot(main)
    problem = "is only a part of a portal robot's configuration"
    instead = "put it beside its robot.conf, and name that"
    from ultracrawl.sources import Loaded  # noqa: PLC0415 - as above

    return Loaded(None, (Finding(str(location), 0, "file", problem, instead),))


def _read_collections(location: str | Path) -> Loaded:
    from ultracrawl.sources.dialects.fast_xml.reader import read_collections  # noqa: PLC0415 - as above

    return read_collections(location)


def _read_yaml(location: str | Path) -> Loaded:
    from ultracrawl.sources import load_project  # noqa: PLC0415 - as above

    return load_project(location)


_PART = Dialect("part of a robot", lambda head: _ROBOT_PART.match(_plain(head)) is not None, _read_robot_part)
DIALECTS: tuple[Dialect, ...] = (
    Dialect("robot.conf", lambda head: _ROBOT_CONF.match(_plain(head)) is not None, _read_robot),
    _PART,
    Dialect("xml", lambda head: _XML.match(_plain(head)) is not None, _read_collections),
    Dialect("yaml", lambda _: True, _read_yaml),
)
"""All formats; the first that recognises a file reads it. YAML, the last, accepts any file."""
