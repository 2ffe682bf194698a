"""Reads the files of a source."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import replace

from ultracrawl.agents.file.entries import FileEntries
from ultracrawl.agents.file.file_urls import MESSAGE, path_of_url
from ultracrawl.agents.file.mailboxes import MessageTables, message_entry
from ultracrawl.agents.file.opening import FILE, FOLDER, BaseFolders
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Entry, Failure, Fetcher, KindSetup, Wanted
from ultracrawl.model import StatusCode

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP})


class FileFetcher(Fetcher):
    """Reads a file each; what a mount that is gone would hold is not reached, and not gone."""

    threads = 4

    def __init__(self, setup: KindSetup[FileSection]) -> None:
        self._bases = BaseFolders(setup.options.paths, setup.base, symlinks=setup.options.symlinks)
        self._entries = FileEntries(setup.options)
        self._messages = MessageTables()

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return the files."""
        return [self._read(one) for one in wanted]

    def _read(self, wanted: Wanted) -> Entry | Failure:
        url, _, message = wanted.access_url.partition(MESSAGE)
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
        # Nobody named in place of somebody would say nothing: the next listing is to see the change.
        unsaid = bool(message) or (listed.acl and not entry.acl)
        validators = listed.validators if unsaid else entry.validators
        return replace(entry, content_type=listed.content_type, validators=validators)

    def _entry(self, path: bytes, message: str, most: int) -> Entry | None:
        """Return a file as it is now, or a message of it; None for what is no more. Raises `OSError`."""
        with open(self._bases.open_path(path, FILE), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                return None
            if not message:
                return replace(self._entries.entry(path, about), body=file.read(most or -1))
            place = self._messages.place(file.fileno(), message)
            if place is None:
                return None
            file.seek(place.start)
            body = file.read(min(most or place.size, place.size))
            return message_entry(self._entries.entry(path, about, message=place), body)

    def _failure(self, path: bytes, error: OSError) -> Failure:
        reason = error.strerror or str(error)
        if error.errno in _DENIED:
            return Failure(403, reason)
        if error.errno not in _GONE:
            return Failure(StatusCode.READ_ERROR, reason)
        base = self._bases.holder(path)
        if base is None or _is_there(self._bases.root(base)):
            return Failure(404)
        return Failure(StatusCode.IO_ERROR, f"{os.fsdecode(base)} is not there")


def _is_there(root: bytes) -> bool:
    """Whether a base folder can be read and holds anything: one that is not mounted is empty."""
    try:
        folder = os.open(root, FOLDER)
    except OSError:
        return False
    try:
        with os.scandir(folder) as found:
            return next(found, None) is not None
    finally:
        os.close(folder)
