"""Pauses of destinations that `ultracrawl feeding` orders: durable, for running crawls and later ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ultracrawl.index.writing.destination_queue import cache_errors

EVERYTHING = ""
"""The key of all destinations together; each has its own as well."""
_FILE = "feeding.json"


class PauseSwitch:
    """Pauses by destination, in a file of the document cache of a source.

    An order counts as long as `paused` in the definition is what it was then; a later change of the definition
    overrides it.
    """

    def __init__(self, cache: Path) -> None:
        self._file = cache / _FILE
        self._seen = 0
        self._orders: dict[str, tuple[bool, bool]] = {}

    def reload_if_changed(self) -> bool:
        """Read the file if it was changed since the last call; costs one look at it."""
        try:
            seen = self._file.stat().st_mtime_ns
        except OSError:
            seen = 0
        if seen == self._seen:
            return False
        self._seen = seen
        self._orders = self._read() if seen else {}
        return True

    def paused(self, key: str, defined: bool) -> bool:
        """Return whether feeding is paused, `defined` being what the definition says."""
        ordered, then = self._orders.get(key, (defined, defined))
        return ordered if then == defined else defined

    def set_paused(self, key: str, *, paused: bool, defined: bool) -> None:
        """Pause or resume a destination. Raises `IndexStoreError` if that cannot be written."""
        self.reload_if_changed()
        orders = {**self._orders, key: (paused, defined)}
        text = json.dumps({name: {"paused": one, "defined": then} for name, (one, then) in orders.items()})
        draft = self._file.with_suffix(".new")
        with cache_errors(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, self._file)
        self.reload_if_changed()

    def _read(self) -> dict[str, tuple[bool, bool]]:
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            return {str(key): (bool(one["paused"]), bool(one["defined"])) for key, one in data.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # edited by hand: the definition counts
