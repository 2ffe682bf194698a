"""The manifest of an archive: its format, its origin, and the checksums of its files."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from ultracrawl import __version__
from ultracrawl.dataclass import asdict, dataclass, field
from ultracrawl.errors import UserError
from ultracrawl.sources import Project
from ultracrawl.sources.writing import definition_text

NAME = "ultracrawl-backup.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Size and SHA-256 of a file."""

    size: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """The last member of an archive; an archive without it is incomplete."""

    created: str
    definition: str
    """A hash of the definition, to compare it when the archive is restored."""
    sources: list[str] = field(default_factory=list)
    files: dict[str, FileDigest] = field(default_factory=dict)
    format: int = FORMAT
    program: str = __version__

    def as_bytes(self) -> bytes:
        """Return the content of the manifest file."""
        return json.dumps(asdict(self), indent=1).encode()

    @property
    def bytes(self) -> int:
        """The total size of the files."""
        return sum(digest.size for digest in self.files.values())


def parse_manifest(data: bytes, archive: Path) -> Manifest:
    """Read the manifest of an archive. Raises `UserError`."""
    try:
        row: dict[str, Any] = json.loads(data)
        number = int(row["format"])
        if number == FORMAT:
            files = {
                str(name): FileDigest(int(digest["size"]), str(digest["sha256"]))
                for name, digest in row["files"].items()
            }
            sources = [str(source) for source in row["sources"]]
            return Manifest(
                str(row["created"]), str(row["definition"]), sources, files, number, str(row["program"])
            )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(
            f"{archive} is not a backup made by ultracrawl: its list of files cannot be read"
        ) from None
    raise UserError(f"{archive} was made by a newer version of ultracrawl ({row.get('program')})")


def definition_hash(project: Project) -> str:
    """Return the hash of the definition of a project, the same in every folder that the project may be in."""
    written = yaml.safe_load(definition_text(project, project.base))
    return sha256(json.dumps(_below(written, f"{project.base}{os.sep}")).encode()).hexdigest()


def _below(data: Any, folder: str) -> Any:
    """Return data of a definition with the paths in a folder relative to it."""
    if isinstance(data, dict):
        return {str(name): _below(value, folder) for name, value in data.items()}
    if isinstance(data, list):
        return [_below(value, folder) for value in data]
    return str(data).removeprefix(folder)
