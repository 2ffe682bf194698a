"""Pauses of destinations set by `ultracrawl feeding`, stored for running and later crawls."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ultracrawl.index.writing.destination_queue import cache_errors

EVERYTHING = ""
"""The key for all destinations together; each also has its own."""
_FILE = "feeding.json"


class PauseSwitch:
    """Pauses by destination, in a file in the document cache of a source.

    An entry is valid as long as `paused` in the definition is what it was when the entry was set; a later change of the
    definition overrides it. One that was set while the definition had mistakes refers to the first definition after it.
    """

    def __init__(self, cache: Path) -> None:
        self._file = cache / _FILE
        self._mtime = 0
        self._overrides: dict[str, tuple[bool, bool | None]] = {}

    def reload_if_changed(self) -> bool:
        """Read the file if it has changed since the last call (one `stat`), and return whether it has."""
        try:
            seen = self._file.stat().st_mtime_ns
        except OSError:
            seen = 0
        if seen == self._mtime:
            return False
        self._mtime = seen
        self._overrides = self._read() if seen else {}
        return True

    def paused(self, key: str, defined: bool) -> bool:
        """Return whether the destination is paused; `defined` is the value in the definition."""
        ordered, defined_then = self._overrides.get(key, (defined, defined))
        return ordered if defined_then in (None, defined) else defined

    def settle(self, key: str, defined: bool) -> None:
        """Have an entry that was set without a definition refer to this one. Raises `IndexStoreError`."""
        ordered, defined_then = self._overrides.get(key, (defined, defined))
        if defined_then is None:
            self.set_paused(key, paused=ordered, defined=defined)

    def set_paused(self, key: str, *, paused: bool, defined: bool | None) -> None:
        """Pause or resume a destination; `defined` is None if the definition has mistakes.

        Raises `IndexStoreError` if that cannot be stored.
        """
        self.reload_if_changed()
        orders = {**self._overrides, key: (paused, defined)}
        text = json.dumps(
            {name: {"paused": one, "defined": defined_then} for name, (one, defined_then) in orders.items()}
        )
        draft = self._file.with_suffix(".new")
        with cache_errors(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, self._file)
        self.reload_if_changed()

    def _read(self) -> dict[str, tuple[bool, bool | None]]:
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            return {str(key): (bool(one["paused"]), one["defined"]) for key, one in data.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # unreadable: the definition applies
