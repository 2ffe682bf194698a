"""The interface between the kind `file` and a remote file system: list a folder, find a path, read a file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ultracrawl.agents.file.remote.locations import RemoteLocation
from ultracrawl.agents.file.remote.section import ConnectionSection
from ultracrawl.dataclass import dataclass
from ultracrawl.sources.secrets import SecretReader

_SETTLED_SECONDS = 2


def version_by_time(modified: float) -> str:
    """Return the version of a file of which only the second of its last change is known.

    A file that is younger than two seconds may change again within that second; so the next listing has another version
    of it, and it is read again.
    """
    return "" if modified < time.time() - _SETTLED_SECONDS else "unsettled"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file or folder."""

    name: bytes
    is_folder: bool = False
    size: int = 0
    modified: float = 0.0
    """Seconds since 1970; 0 if unknown."""
    version: str = ""
    """A text that changes with the content, as an ETag; empty if the server has none."""
    owner: str = ""
    readers: tuple[str, ...] = ()
    """Users and groups that may read it, if not everybody may."""


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """A folder or file in `paths`, and what is needed to connect to its server."""

    location: RemoteLocation
    """A folder or file in `paths`."""
    options: ConnectionSection
    place: str
    """The path of `options` in the source, for errors."""
    secrets: SecretReader
    base: Path
    """The folder that relative paths of the definition are resolved against."""
    permissions: bool = False
    """Whether owners and readers are wanted, if the server has to be asked for them."""

    @property
    def user(self) -> str:
        """The user of the connection; empty: none is written."""
        return self.location.user or self.options.user or ""

    def secret(self, name: str) -> str | None:
        """Return the text of a secret option; None if it is not written. Raises `UserError`."""
        secret = getattr(self.options, name)
        return None if secret is None else self.secrets.read(secret, f"{self.place}.{name}")


class RemoteFolder:
    """A folder or file in `paths`, over a connection that its first call opens, as does a call after it was lost.

    The paths of the methods are absolute, and in the folder. All methods may be called in several threads. They raise
    `OSError` about a path: `FileNotFoundError` if there is none, `PermissionError` if it may not be read. They raise
    `WorkError` if the server cannot be reached or the connection is lost, and `UserError` if the definition has to be
    corrected.
    """

    def members(self, folder: bytes) -> Iterator[RemoteFile]:
        """Yield the regular files and the folders in a folder; links, pipes and such are left out."""
        raise NotImplementedError

    def find(self, path: bytes) -> RemoteFile:
        """Return the file or folder of a path; a link is followed."""
        raise NotImplementedError

    def read(self, path: bytes, max_bytes: int) -> tuple[RemoteFile, bytes]:
        """Return a regular file that no link leads to, and its content or the beginning of that; 0: all of it.

        The file is as it was when its content was read. Its owner and readers may be missing.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the connection; the last call."""
