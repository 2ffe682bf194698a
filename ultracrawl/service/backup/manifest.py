"""What an archive says about itself: who made it, of what, and which files are in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ultracrawl import __version__
from ultracrawl.errors import UserError
from ultracrawl.sources import Project
from ultracrawl.sources.writing import definition_text

NAME = "ultracrawl-backup.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileMark:
    """How large a file is, and what it holds."""

    size: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """The last member of an archive: without it, the archive is not whole."""

    created: str
    definition: str
    """A hash of the definition, to see whether it is the same where the archive is restored."""
    sources: list[str] = field(default_factory=list)
    files: dict[str, FileMark] = field(default_factory=dict)
    format: int = FORMAT
    program: str = __version__

    def as_bytes(self) -> bytes:
        """Return it as it stands in an archive."""
        return json.dumps(asdict(self), indent=1).encode()

    @property
    def bytes(self) -> int:
        """How much all files take."""
        return sum(one.size for one in self.files.values())


def parse_manifest(data: bytes, archive: Path) -> Manifest:
    """Read the manifest of an archive. Raises `UserError`."""
    try:
        found: dict[str, Any] = json.loads(data)
        number = int(found["format"])
        if number == FORMAT:
            files = {
                str(name): FileMark(int(one["size"]), str(one["sha256"]))
                for name, one in found["files"].items()
            }
            sources = [str(one) for one in found["sources"]]
            return Manifest(
                str(found["created"]), str(found["definition"]), sources, files, number, str(found["program"])
            )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{archive} is no backup of this program: its list of files cannot be read") from None
    raise UserError(f"{archive} was made by a newer version of the program ({found.get('program')})")


def definition_mark(project: Project) -> str:
    """Return the hash of the definition of a project."""
    return sha256(definition_text(project, project.base).encode()).hexdigest()
