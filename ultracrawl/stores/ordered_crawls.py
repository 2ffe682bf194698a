"""Crawls that people ordered from a service, kept in a file until they end, so that the next service resumes them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from ultracrawl.system.files import replace_file

logger = logging.getLogger(__name__)

_FILE = "ordered.json"


class OrderedCrawls:
    """The sources whose crawls were ordered and have not ended, with `force` of each; in memory without a folder."""

    def __init__(self, folder: Path | None) -> None:
        """`folder` is the schedules folder of the project."""
        self._path = None if folder is None else folder / _FILE
        self._forced = {} if self._path is None else _read(self._path)

    @property
    def forced(self) -> Mapping[str, bool]:
        """The sources in the order of their orders, and whether all their documents are fetched."""
        return dict(self._forced)

    def __contains__(self, source: str) -> bool:
        return source in self._forced

    def add(self, source: str, *, force: bool) -> None:
        """Store an order; if the file cannot be written, a warning says so."""
        self._forced[source] = force
        self._write()

    def discard(self, source: str) -> None:
        """Forget an order that has been fulfilled, stopped or refused."""
        if self._forced.pop(source, None) is not None:
            self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, json.dumps(self._forced).encode())
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._path, error.strerror or error)


def _read(path: Path) -> dict[str, bool]:
    try:
        stored = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): bool(force) for name, force in stored.items()} if isinstance(stored, dict) else {}
