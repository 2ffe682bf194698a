"""A JSON file of rows that only its owner can read, shared by processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from ultracrawl.errors import WorkError
from ultracrawl.system.files import cause_and_remedy, convert_write_errors, exclusive_lock, replace_file

Row = TypeVar("Row")


class RowFile(Generic[Row]):
    """Rows by their keys; a change by another process takes effect at once."""

    def __init__(
        self,
        path: Path,
        member: str,
        parse: Callable[[dict[str, Any]], tuple[str, Row]],
        as_json: Callable[[Row], dict[str, Any]],
        remedy: str,
    ) -> None:
        """`member` of the JSON object has the rows; `remedy` says how to make them anew if the file is damaged."""
        self.path = path
        self._member = member
        self._parse = parse
        self._as_json = as_json
        self._remedy = remedy
        self._seen: tuple[int, int] | None = None
        self._rows: dict[str, Row] = {}

    @property
    def lock_path(self) -> Path:
        """The lock file that writers hold."""
        return self.path.with_suffix(".lock")

    def read(self) -> Mapping[str, Row]:
        """Return the rows; reads the file again if it has changed. Raises `WorkError`."""
        try:
            found = self.path.stat()
            mark = (found.st_mtime_ns, found.st_ino)
            if mark != self._seen:
                self._rows = dict(map(self._parse, json.loads(self.path.read_text("utf-8"))[self._member]))
                self._seen = mark
        except FileNotFoundError:
            self._rows, self._seen = {}, None
        except OSError as error:
            raise WorkError(f"{self.path} cannot be read: {cause_and_remedy(error)}") from error
        except (ValueError, KeyError, TypeError):
            raise WorkError(f"{self.path} is damaged; remove it, and {self._remedy}") from None
        return self._rows

    @contextmanager
    def changing(self) -> Iterator[dict[str, Row]]:
        """Lock the file and yield its rows for changes, which are written on exit. Raises `WorkError`."""
        with convert_write_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with exclusive_lock(self.lock_path):
                rows = dict(self.read())
                yield rows
                written = {self._member: [self._as_json(row) for row in rows.values()]}
                replace_file(self.path, json.dumps(written, indent=1).encode() + b"\n")
                self.path.chmod(0o600)
