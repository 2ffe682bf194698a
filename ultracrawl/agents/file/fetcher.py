"""Reads the files of a source."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import replace

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
        self._messages = MessageTables()

    def fetch(self, wanted: Sequence[Wanted]) -> Sequence[Entry | Failure]:
        """Return the files."""
        return [self._read(one) for one in wanted]

    def _read(self, wanted: Wanted) -> Entry | Failure:
        url, _, message = wanted.access_url.partition(MESSAGE)
        path, entry = path_of_url(url), wanted.entry or Entry(wanted.access_url)
        if path is None:
            return Failure(404)
        try:
            body = self._body(path, message, wanted.max_bytes)
        except OSError as error:
            return self._failure(path, error)
        if body is None:
            return Failure(404)
        return message_entry(entry, body) if message else replace(entry, body=body)

    def _body(self, path: bytes, message: str, most: int) -> bytes | None:
        """Return what is in a file, or in a message of it; None for what is no more. Raises `OSError`."""
        with open(self._bases.open_path(path, FILE), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            if message:
                place = self._messages.place(file.fileno(), message)
                if place is None:
                    return None
                file.seek(place[0])
                most = min(most or place[1], place[1])
            return file.read(most) if most else file.read()

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
