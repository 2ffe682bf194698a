"""Opens the remote base folders of a source; a library is imported only if a path needs it."""

from __future__ import annotations

from importlib.util import find_spec
from threading import Lock
from typing import NamedTuple

from ultracrawl.agents.file import remote
from ultracrawl.agents.file.remote.locations import RemoteLocation, parse_location
from ultracrawl.agents.file.remote.port import RemoteAccess, RemoteFolder
from ultracrawl.agents.file.remote.section import ConnectionSection
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import KindSetup
from ultracrawl.errors import MissingExtraError


class _Library(NamedTuple):
    package: str
    extra: str
    """The extra that installs it; empty: it is always installed."""


_LIBRARIES = {
    "s3": _Library("botocore", "s3"),
    "sftp": _Library("asyncssh", "sftp"),
    "smb": _Library("smbprotocol", "smb"),
    "webdav": _Library("pycurl", ""),
}


def check_libraries(options: FileSection) -> None:
    """Raise `MissingExtraError` if the library for a path of a source is not installed."""
    for location in options.remote:
        library = _LIBRARIES[location.scheme]
        if library.extra and find_spec(library.package) is None:
            raise MissingExtraError(f"a path with `{location.scheme}://`", library.extra)


class RemoteFolders:
    """The remote base folders of a source, opened when they are first used."""

    def __init__(self, setup: KindSetup[FileSection]) -> None:
        check_libraries(setup.options)
        self._setup = setup
        self._lock = Lock()
        self._opened: dict[RemoteLocation, RemoteFolder] = {}
        self.locations = setup.options.remote
        """The folders and files, in the order of `paths`."""

    def open(self, location: RemoteLocation) -> RemoteFolder:
        """Return a base folder, not connected yet."""
        with self._lock:
            if location not in self._opened:
                self._opened[location] = self._make(location)
            return self._opened[location]

    def location_of(self, url: str) -> RemoteLocation | None:
        """Return the innermost base folder of the URL of a document; None if there is none."""
        found = [location for location in self.locations if location.path_of(url) is not None]
        return max(found, key=lambda location: len(location.path), default=None)

    def close(self) -> None:
        """Close all connections."""
        for folder in self._opened.values():
            folder.close()

    def _make(self, location: RemoteLocation) -> RemoteFolder:
        setup = self._setup
        prefix, options = connection_of(setup.options, location)
        place = f"connections.{prefix}"
        wanted = setup.options.permissions
        access = RemoteAccess(location, options, place, setup.secrets, setup.base, permissions=wanted)
        return _folder_of(access)


def _folder_of(access: RemoteAccess) -> RemoteFolder:
    """Import the library of a base folder, and return the folder, not connected yet."""
    match access.location.scheme:
        case "s3":
            return remote.S3Folder(access)
        case "sftp":
            return remote.SftpFolder(access)
        case "smb":
            return remote.SmbFolder(access)
        case _:
            return remote.WebdavFolder(access)


def connection_of(options: FileSection, location: RemoteLocation) -> tuple[str, ConnectionSection]:
    """Return the connection of a path, and the prefix that it is written for: the longest that fits."""
    fitting = [
        (parsed, prefix)
        for prefix in options.connections
        if (parsed := parse_location(prefix)).holds(location)
    ]
    if not fitting:
        return location.server, ConnectionSection.by_default()
    prefix = max(fitting, key=lambda one: (len(one[0].path), len(one[0].user)))[1]
    return prefix, options.connections[prefix]
