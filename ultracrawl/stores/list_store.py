"""Lists of values (LOVs) loaded in bulk, in one JSON file of the project's state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.rules.attributes.schema import ListedValue, ValueList
from ultracrawl.system.files import cause_and_remedy, exclusive_lock, replace_file

NAME = "lists.json"


class ListStore:
    """The loaded lists, in a file of the state folder that is replaced atomically."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def read(self) -> dict[str, ValueList]:
        """Return the lists by search attribute. Raises `StateError` if the file cannot be read."""
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
        """Replace the lists of some attributes, under a lock; the lists of others stay. Raises `StateError`."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(self.path.with_name(f"{NAME}.lock")):
                all_lists = self.read() | {values.attribute: values for values in lists}
                stored = {
                    name: [(listed.value, dict(listed.names)) for listed in values.values]
                    for name, values in all_lists.items()
                }
                replace_file(self.path, json.dumps(stored, ensure_ascii=False).encode())
        except OSError as error:
            raise StateError(
                f"the lists cannot be written to {self.path}: {cause_and_remedy(error)}"
            ) from error
