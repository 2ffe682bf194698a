"""Recognises the files of a portal robot, and finds the one that names the others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl import sources
from ultracrawl.model import Finding
from ultracrawl.sources.dialects.port import Dialect

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded

_COMMENTS = rb"(?:\s*#[^\r\n]*[\r\n])*\s*"
_BEGIN = re.compile(
    _COMMENTS + rb"(<(Process[\s>\\]|(Filter|FilterRule|Site)\s)|(Classify|Setup|Field)\s)", re.IGNORECASE
)
_PROCESS = re.compile(r"(?:\A|[\r\n])\s*<Process[\s>\\]", re.IGNORECASE)
_FILES = frozenset(
    {"robot.conf", "process.conf", "filter.conf", "filterrules.conf", "classification.conf", "schema.conf"}
)
"""Names of robot files, for files whose content does not show it, as those with comments only."""


def _recognises(name: str, head: bytes) -> bool:
    return bool(_BEGIN.match(head)) or (name in _FILES and not head.lstrip().startswith(b"<"))


def _read(path: Path) -> Loaded:
    """Read the robot that a file belongs to: the file itself if it has all blocks, else `robot.conf` beside it."""
    from ultracrawl.dialects.portal_robot.reader import read_robot  # noqa: PLC0415 - only its users wait for it
    from ultracrawl.sources.filter_files.file_text import read_file  # noqa: PLC0415 - only its users wait for it
    from ultracrawl.sources.filter_files.layout import main_file_beside  # noqa: PLC0415 - only its users wait for it

    if _PROCESS.search(read_file(path).text.removeprefix("\ufeff")):
        return read_robot(path)
    main = main_file_beside(path)
    if main is not None:
        return read_robot(main)
    problem = "is only a part of a portal robot's configuration"
    instead = "put it beside its robot.conf, and name that"
    return sources.Loaded(None, (Finding(str(path), 0, "file", problem, instead),))


DIALECT = Dialect("a robot.conf", _recognises, _read)
