"""`Dialect`: what a plug-in has to provide so that definitions in another format are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.dataclass import dataclass

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded


@dataclass(frozen=True, slots=True)
class Dialect:
    """A format of definition files."""

    title: str
    """What the help of the command line calls such a file."""
    recognises: Callable[[str, bytes], bool]
    """Whether a file is written in the format, by its name in lower case and its first 64 KB.

    The bytes have neither a byte-order mark nor the zero bytes of UTF-16. Folders and missing files are left out.
    """
    read: Callable[[Path], Loaded]
    """Reads a file into a project and findings with file and line. It raises nothing: mistakes are findings."""
