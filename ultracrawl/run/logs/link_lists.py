"""Files with all links of pages, before any rule is applied (FAST 5.1, 108)."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from ultracrawl.errors import WorkError
from ultracrawl.run.hooks import Feature
from ultracrawl.system.files import cause_and_remedy

if TYPE_CHECKING:
    from ultracrawl.model import Page
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

MAX_BUFFERED = 64 << 10
"""Characters held in memory before they are written."""


class LinkLists(Feature):
    """Appends links to the file `PID.txt` of this process, one absolute URL per line.

    After a write error `on_problem` is called once and no more links are written.
    """

    def __init__(self, folder: Path, on_problem: Callable[[WorkError], None]) -> None:
        self._path = folder / f"{os.getpid()}.txt"
        self._on_problem = on_problem
        self._lines: list[str] = []
        self._size = 0
        self._usable = True

    def page_read(self, visit: Visit, page: Page, base: str) -> None:
        """Add the links of a page."""
        self.add([link.href for link in page.links], base)

    def add(self, hrefs: Iterable[str], base: str) -> None:
        """Add the links of a page; relative ones are joined to `base`."""
        if not self._usable:
            return
        before, lines = len(self._lines), self._lines
        root, folder = _prefixes(base)
        for href in hrefs:
            if href.startswith(("http://", "https://")):
                lines.append(href)
            elif not href or ":" in href or "./" in href or href[-1] == "." or href[0] in "?#":
                lines.append(_joined(base, href))
            elif href[0] != "/":
                lines.append(folder + href)
            else:
                lines.append(_joined(base, href) if href.startswith("//") else root + href)
        self._size += sum(map(len, lines[before:]))
        if self._size >= MAX_BUFFERED:
            self.before_flush()

    def before_flush(self) -> None:
        """Write the buffered links."""
        if not self._lines:
            return
        lines, self._lines, self._size = self._lines, [], 0
        text = "\n".join(line.replace("\n", "").replace("\r", "") for line in lines)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(text.encode(errors="replace") + b"\n")
        except OSError as error:
            self._usable = False
            self._on_problem(WorkError(f"links cannot be written to {self._path}: {cause_and_remedy(error)}"))


def _prefixes(base: str) -> tuple[str, str]:
    """Return the prefixes of absolute paths and of paths relative to the folder of a page.

    Most links are joined by concatenation with these, because `urljoin` takes four times as long.
    """
    path = base.partition("#")[0].partition("?")[0]
    end = path.find("/", path.find("://") + 3)
    return (path, f"{path}/") if end < 0 else (path[:end], path[: path.rfind("/") + 1])


def _joined(base: str, href: str) -> str:
    """Return the absolute URL of a link; an invalid one is returned as written."""
    try:
        return urljoin(base, href)
    except ValueError:
        return href
