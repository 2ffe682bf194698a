"""The distribution of a robot's configuration over files: four today, one or two in older layouts.

The product's ancestors (Netscape and iPlanet Compass Server, Catalog Server) use the same grammar; there `robot.conf`
is called `process.conf` and may contain starting points, and all blocks may be in one file.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from ultracrawl.rules.filters.phase import Phase
from ultracrawl.rules.filters.resource import LOCAL_HOST, LOCAL_SCHEME
from ultracrawl.rules.filters.rules import PROTOCOLS
from ultracrawl.sources.filter_files.lexer import ConfigText

MAIN_FILES = ("robot.conf", "process.conf")
"""Names of the file with the `<Process>` block, the current one first."""
BLOCKS = frozenset({"process", "filter", "filterrule", "site"})
"""All kinds of blocks."""
FILTER_WORDS = tuple(phase.value for phase in Phase)
RULE_WORDS = ("Match", "Host", "Start", "Use")
ALL_WORDS = (*FILTER_WORDS, *RULE_WORDS)


def main_file_beside(part: Path) -> Path | None:
    """Return the file with the `<Process>` block beside another file of the robot, None if there is none."""
    return next((path for name in MAIN_FILES if (path := part.with_name(name)).is_file()), None)


def split_start(text: str) -> SplitResult | None:
    """Return the parts of the URL of a starting point, None for an invalid one."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme == LOCAL_SCHEME:
        local = parts.netloc.lower() in ("", LOCAL_HOST) and parts.path.startswith("/")
        return parts if local and not (parts.query or parts.fragment) else None
    whole = split_url(text)
    return whole if whole is not None and whole.scheme in PROTOCOLS else None


def split_url(text: str) -> SplitResult | None:
    """Return the parts of an absolute URL, None for an invalid one."""
    try:
        parts = urlsplit(text)
        whole = bool(parts.scheme and parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if whole else None


def is_whole_robot(read: ConfigText) -> bool:
    """Whether a file contains all blocks of a robot (older layouts); each reader then skips the blocks of others."""
    return any(block.kind == "process" for block in read.blocks)
