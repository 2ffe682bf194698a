"""The mark of a restore whose folders are in place and whose rows in a database may not be: it may go on."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ultracrawl.dataclass import dataclass
from ultracrawl.service.backup.manifest import Manifest

SUFFIX = ".restoring"
_MARK = f"database{SUFFIX}"


@dataclass(frozen=True, slots=True)
class UnfinishedRestore:
    """What was being restored, and which credentials it has made valid."""

    archive: str
    """The digest of the list of files."""
    tokens: str
    users: str

    def is_of(self, manifest: Manifest) -> bool:
        """Return whether it was the archive with this manifest that was being restored."""
        return self.archive == _digest(manifest)


def mark_restore(state: Path, manifest: Manifest, tokens: str, users: str) -> None:
    """Write the mark to the folder of a state, or its draft."""
    row = {"archive": _digest(manifest), "tokens": tokens, "users": users}
    (state / _MARK).write_text(json.dumps(row))


def unmark_restore(state: Path) -> None:
    """Remove the mark: the rows are there."""
    (state / _MARK).unlink(missing_ok=True)


def unfinished_restore(state: Path) -> UnfinishedRestore | None:
    """Return the restore that has not ended, None if there is none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        row = json.loads((state / _MARK).read_text())
        return UnfinishedRestore(str(row["archive"]), str(row["tokens"]), str(row["users"]))
    return None


def _digest(manifest: Manifest) -> str:
    return sha256(manifest.as_bytes()).hexdigest()
