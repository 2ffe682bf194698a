"""How a robot's configuration is spread over files: four today, one or two in the older layouts of the family.

The product's ancestors (Netscape and iPlanet Compass Server, Catalog Server) have the same grammar: `process.conf` is
what `robot.conf` was called there, starting points may stand in it, and all blocks may stand in one file.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from ultracrawl.rules.filters.phase import Phase
from ultracrawl.rules.filters.resource import LOCAL_HOST, LOCAL_SCHEME
from ultracrawl.rules.filters.rules import PROTOCOLS
from ultracrawl.sources.dialects.portal_robot.lexer import ConfigText

MAIN_FILES = ("robot.conf", "process.conf")
"""Names of the file with the `<Process>` block, the present one first."""
BLOCKS = frozenset({"process", "filter", "filterrule", "site"})
"""All blocks that there are."""
FILTER_WORDS = tuple(phase.value for phase in Phase)
RULE_WORDS = ("Match", "Host", "Start", "Use")
ALL_WORDS = (*FILTER_WORDS, *RULE_WORDS)


def main_file_beside(part: Path) -> Path | None:
    """Return the file with the `<Process>` block in the folder of another file of the robot, None if there is none."""
    return next((path for name in MAIN_FILES if (path := part.with_name(name)).is_file()), None)


def split_start(text: str) -> SplitResult | None:
    """Return the parts of the URL of a starting point, None for a text that is none."""
    parts = urlsplit(text)
    if parts.scheme == LOCAL_SCHEME:
        local = parts.netloc.lower() in ("", LOCAL_HOST) and parts.path.startswith("/")
        return parts if local and not (parts.query or parts.fragment) else None
    whole = split_url(text)
    return whole if whole is not None and whole.scheme in PROTOCOLS else None


def split_url(text: str) -> SplitResult | None:
    """Return the parts of a whole URL, None for a text that is none."""
    try:
        parts = urlsplit(text)
        whole = bool(parts.scheme and parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if whole else None


def is_whole_robot(read: ConfigText) -> bool:
    """Whether a file holds all blocks of a robot; those that stand in other files today are somebody else's then."""
    return any(block.kind == "process" for block in read.blocks)
