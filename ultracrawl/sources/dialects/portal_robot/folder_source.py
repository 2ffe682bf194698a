"""Converts starting points that are folders to a source of type `file` with the filters of the robot."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from ultracrawl.rules.filters.resource import LOCAL_SCHEME
from ultracrawl.rules.filters.rules import UNLIMITED, StartingPoint
from ultracrawl.sources.kinds import SourceKind


def is_folder(start: StartingPoint) -> bool:
    """Whether a starting point is a local folder."""
    return start.url.lower().startswith(f"{LOCAL_SCHEME}:")


def file_options(
    starts: Sequence[StartingPoint], depth: int, shared: Mapping[str, Any], kind: SourceKind
) -> dict[str, Any]:
    """Return the options of a source of type `file`: those of `shared`, the robot's, that apply to it, and its own.

    A file in a starting point is one link step away, a file in a folder below it two.
    """
    depths = [depth if start.depth is None else start.depth for start in starts]
    own = {
        "type": LOCAL_SCHEME,
        "paths": [os.fsdecode(unquote_to_bytes(urlsplit(start.url).path)) for start in starts],
        "levels": None if UNLIMITED in depths else max(*depths, 1) - 1,
        "filters": {**shared["filters"], "addresses": False},
    }
    return {name: value for name, value in shared.items() if name not in kind.unfit} | dict(kind.fixed) | own
