"""The fetcher of the kind `file`."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import replace

from ultracrawl.agents.file.base_folders import OPEN_FILE, OPEN_FOLDER, BaseFolders
from ultracrawl.agents.file.entries import FileEntries
from ultracrawl.agents.file.file_urls import MESSAGE_QUERY, PREFIX, path_of_url
from ultracrawl.agents.file.mailboxes import MessageTables, message_entry
from ultracrawl.agents.file.remote_folders import RemoteFolders
from ultracrawl.agents.file.remote_walking import RemoteReading
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Entry, Failure, Fetcher, KindSetup, Wanted
from ultracrawl.model import StatusCode

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP})


class FileFetcher(Fetcher):
    """Reads files and mailbox messages; files below a missing mount count as unreachable, not as gone."""

    threads = 4

    def __init__(self, setup: KindSetup[FileSection]) -> None:
        self._bases = BaseFolders(setup.options.folders, setup.base, symlinks=setup.options.symlinks)
        self._entries = FileEntries(setup.options)
        self._messages = MessageTables()
        self._remote = RemoteFolders(setup)
        self._remote_files = RemoteReading(setup, self._remote)

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return the entries of the files with their bodies."""
        return [
            self._read(one) if one.access_url.startswith(PREFIX) else self._remote_files.read(one)
            for one in wanted
        ]

    def close(self) -> None:
        """Close the connections to remote folders."""
        self._remote.close()

    def _read(self, wanted: Wanted) -> Entry | Failure:
        url, _, message = wanted.access_url.partition(MESSAGE_QUERY)
        path = path_of_url(url)
        if path is None:
            return Failure(404)
        try:
            entry = self._entry(path, message, wanted.max_bytes)
        except OSError as error:
            return self._failure(path, error)
        if entry is None:
            return Failure(404)
        listed = wanted.entry
        if listed is None:
            return entry
        # An empty ACL does not override the listed one (`merge_entries`): the next listing has to see that change.
        keeps_listed = bool(message) or (listed.acl and not entry.acl)
        validators = listed.validators if keeps_listed else entry.validators
        return replace(entry, content_type=listed.content_type, validators=validators)

    def _entry(self, path: bytes, message_name: str, max_bytes: int) -> Entry | None:
        """Return a file, or a message in it, with its body; None if it does not exist any more. Raises `OSError`."""
        with open(self._bases.open_path(path, OPEN_FILE), "rb") as file:
            file_stat = os.fstat(file.fileno())
            if not stat.S_ISREG(file_stat.st_mode):
                return None
            if not message_name:
                return replace(self._entries.entry(path, file_stat), body=file.read(max_bytes or -1))
            message = self._messages.find_message(file.fileno(), message_name)
            if message is None:
                return None
            file.seek(message.start)
            body = file.read(min(max_bytes or message.size, message.size))
            return message_entry(self._entries.entry(path, file_stat, message=message), body)

    def _failure(self, path: bytes, error: OSError) -> Failure:
        reason = error.strerror or str(error)
        if error.errno in _DENIED:
            return Failure(403, reason)
        if error.errno not in _GONE:
            return Failure(StatusCode.READ_ERROR, reason)
        base = self._bases.base_folder_of(path)
        if base is None or _is_mounted(self._bases.real_path(base)):
            return Failure(404)
        return Failure(StatusCode.IO_ERROR, f"{os.fsdecode(base)} does not exist")


def _is_mounted(root: bytes) -> bool:
    """Whether a base folder can be read and is not empty; an unmounted one is empty."""
    try:
        folder = os.open(root, OPEN_FOLDER)
    except OSError:
        return False
    try:
        with os.scandir(folder) as members:
            return next(members, None) is not None
    finally:
        os.close(folder)
