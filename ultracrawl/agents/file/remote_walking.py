"""Walks remote folders and reads the files in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ultracrawl.agents.file.base_folders import path_in
from ultracrawl.agents.file.entries import FileEntries
from ultracrawl.agents.file.remote.locations import RemoteLocation
from ultracrawl.agents.file.remote.port import RemoteFile, RemoteFolder
from ultracrawl.agents.file.remote_folders import RemoteFolders
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.selection import FileSelection
from ultracrawl.agents.file.walking import MAX_DEPTH, UnreadablePath
from ultracrawl.agents.port import Entry, Failure, KindSetup, Wanted
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import StatusCode

_EMPTY = "it is empty; is it the right folder?"


class _Folder(NamedTuple):
    below: bytes
    """Its path relative to the base folder, with a trailing `/`; empty for the base folder itself."""
    level: int


class RemoteWalk:
    """Walks the remote folders of a source in no particular order, one folder after the other."""

    def __init__(self, setup: KindSetup[FileSection], folders: RemoteFolders) -> None:
        self._selection = FileSelection(setup.options)
        self._entries = FileEntries(setup.options)
        self._folders = folders
        self._most = setup.source.limits.urls_per_site
        """Files and folders of one of `paths` that a walk looks at; None: all."""
        self._looked_at = 0

    def entries(self, location: RemoteLocation) -> Iterator[Entry | UnreadablePath]:
        """Yield the files in and below a base folder, or a base file, and unreadable paths.

        A walk ends with the first operation that finds no connection: what is left would cost a time-out each. It also
        ends above `limits.urls_per_site`: a server may name files and folders without end.
        """
        self._looked_at = 0
        try:
            yield from self._walk(location, self._folders.open(location))
        except UserError as error:
            yield _unreadable(location, location.path, str(error), mistake=True)
        except WorkError as error:
            yield _unreadable(location, location.path, str(error))

    def _walk(self, location: RemoteLocation, opened: RemoteFolder) -> Iterator[Entry | UnreadablePath]:
        try:
            base = opened.find(location.path)
        except OSError as error:
            denied = isinstance(error, PermissionError)
            yield _unreadable(location, location.path, _reason(error), mistake=denied)
            return
        if not base.is_folder:
            yield self._entries.remote_entry(location.url, base)
            return
        pending, has_lost_folder = [_Folder(b"", 0)], False
        while pending:
            folder = pending.pop()
            path = path_in(location.path, folder.below.rstrip(b"/")) if folder.below else location.path
            try:
                yield from self._files_in(location, opened, path, folder, pending)
            except FileNotFoundError as error:
                has_lost_folder = True
                if folder.level == 0:
                    yield _unreadable(location, path, _reason(error))
            except OSError as error:
                yield _unreadable(location, path, _reason(error))
        if has_lost_folder and not has_members(opened, location):
            yield _unreadable(location, location.path, "it vanished while it was read")

    def _files_in(
        self,
        location: RemoteLocation,
        opened: RemoteFolder,
        path: bytes,
        folder: _Folder,
        pending: list[_Folder],
    ) -> Iterator[Entry | UnreadablePath]:
        """Yield the files in a folder, and append its subfolders to `pending`. Raises `OSError`."""
        is_empty, enters = True, self._selection.enters_subfolders(folder.level)
        for member in self._counted(opened.members(path)):
            is_empty, below = False, folder.below + member.name
            if self._selection.excludes(member.name, below):
                continue
            if not member.is_folder:
                if self._selection.includes(member.name, below):
                    yield self._entries.remote_entry(location.url_of(path_in(path, member.name)), member)
            elif enters and folder.level >= MAX_DEPTH:
                reason = f"it is more than {MAX_DEPTH} folders deep"
                yield _unreadable(location, path_in(path, member.name), reason)
            elif enters:
                pending.append(_Folder(below + b"/", folder.level + 1))
        if is_empty and folder.level == 0:
            yield _unreadable(location, path, _EMPTY)

    def _counted(self, members: Iterator[RemoteFile]) -> Iterator[RemoteFile]:
        """Yield the members of a folder. Raises `WorkError` when they are too many."""
        for member in members:
            if self._looked_at == self._most:
                raise WorkError(f"it has more than {self._most:,} files and folders (limits.urls_per_site)")
            self._looked_at += 1
            yield member


class RemoteReading:
    """Reads the files of remote folders; files below a missing or empty one count as unreachable, not as gone."""

    def __init__(self, setup: KindSetup[FileSection], folders: RemoteFolders) -> None:
        self._entries = FileEntries(setup.options)
        self._folders = folders

    def read(self, wanted: Wanted) -> Entry | Failure:
        """Return a document as it is when it is read; owner and readers are those of the listing."""
        url = wanted.access_url
        location = self._folders.location_of(url)
        path = None if location is None else location.path_of(url)
        if location is None or path is None:
            return Failure(403, "it is outside of the folders of the source")
        opened = self._folders.open(location)
        try:
            return self._read(opened, location, path, wanted)
        except (UserError, WorkError) as error:
            return Failure(StatusCode.IO_ERROR, str(error))

    def _read(
        self, opened: RemoteFolder, location: RemoteLocation, path: bytes, wanted: Wanted
    ) -> Entry | Failure:
        try:
            file, body = opened.read(path, wanted.max_bytes)
            listed = wanted.entry
            if listed is None:
                named = opened.find(path)
                file = replace(file, owner=named.owner, readers=named.readers)
            else:
                file = replace(file, owner=listed.owner, readers=listed.acl)
            return replace(self._entries.remote_entry(wanted.access_url, file), body=body)
        except FileNotFoundError:
            if has_members(opened, location):
                return Failure(404)
            return Failure(StatusCode.IO_ERROR, f"{location.url} does not exist, or is empty")
        except PermissionError as error:
            return Failure(403, _reason(error))
        except OSError as error:
            return Failure(StatusCode.READ_ERROR, _reason(error))


def has_members(opened: RemoteFolder, location: RemoteLocation) -> bool:
    """Whether a base folder exists and is not empty, so that a file that is not in it is gone."""
    try:
        return next(iter(opened.members(location.path)), None) is not None
    except OSError:
        return False


def _unreadable(
    location: RemoteLocation, path: bytes, reason: str, *, mistake: bool = False
) -> UnreadablePath:
    return UnreadablePath(location.url_of(path).encode(), reason, mistake)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
