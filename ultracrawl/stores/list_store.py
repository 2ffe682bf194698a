"""Lists of values that were loaded in bulk, in one JSON file of the project's state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.rules.attributes.schema import ListedValue, ValueList
from ultracrawl.system.files import exclusive_lock, replace_file

NAME = "lists.json"


class ListStore:
    """The loaded lists in the folder of the state; a write replaces the file as a whole."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def read(self) -> dict[str, ValueList]:
        """Return the lists by search attribute. Raises `StateError` if the file is no list file of ours."""
        if not self.path.exists():
            return {}
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            return {
                name: ValueList(name, tuple(ListedValue(value, names) for value, names in values))
                for name, values in stored.items()
            }
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise StateError(
                f"the loaded lists in {self.path} cannot be read ({error}); remove the file, and load them again "
                "with `ultracrawl load-metadata`"
            ) from error

    def replace(self, lists: Iterable[ValueList]) -> None:
        """Store lists durably; those of other attributes stay, whoever writes at the same time. Raises `StateError`."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(self.path.with_name(f"{NAME}.lock")):
                all_lists = self.read() | {one.attribute: one for one in lists}
                stored = {
                    name: [(one.value, dict(one.names)) for one in values.values]
                    for name, values in all_lists.items()
                }
                replace_file(self.path, json.dumps(stored, ensure_ascii=False).encode())
        except OSError as error:
            raise StateError(f"the lists cannot be written to {self.path}: {error.strerror}") from error
