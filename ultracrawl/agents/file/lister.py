"""The lister of the kind `file`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ultracrawl.agents.file.base_folders import OPEN_FILE, OPEN_FOLDER, BaseFolders
from ultracrawl.agents.file.entries import FileEntries
from ultracrawl.agents.file.mailboxes import MAIL_TYPE, is_mailbox, messages_of
from ultracrawl.agents.file.remote_folders import RemoteFolders
from ultracrawl.agents.file.remote_walking import RemoteWalk
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.walking import FolderWalk, FoundFile, UnreadablePath
from ultracrawl.agents.port import Batch, Complete, Entry, KindSetup, Listed, Lister, Partial
from ultracrawl.content.mime import type_matches
from ultracrawl.errors import UserError

BATCH_SIZE = 1000
"""Files in a batch."""
MAX_REPORTED_PATHS = 3
"""Unreadable paths that the reason of a partial listing names."""
_SHOWN_BEGINNING, _SHOWN_END = 80, 40
"""Characters of such a path that are shown."""


class FileLister(Lister):
    """Walks the folders of a source; a file is unchanged as long as its modification time and size are."""

    def __init__(self, setup: KindSetup[FileSection]) -> None:
        self._options = setup.options
        self._bases = BaseFolders(setup.options.folders, setup.base, symlinks=setup.options.symlinks)
        self._walk = FolderWalk(setup.options, self._bases)
        self._entries = FileEntries(setup.options)
        self._remote = RemoteFolders(setup)
        self._remote_walk = RemoteWalk(setup, self._remote)
        self._reads_mail = type_matches(MAIL_TYPE, setup.source.types)

    def check_connection(self) -> None:
        """Check that the folders and files can be read. Raises `UserError`, and `WorkError` without an answer."""
        for base in self._bases.paths:
            flags = OPEN_FILE if base.is_file() else OPEN_FOLDER
            try:
                os.close(self._bases.open_path(os.fsencode(base), flags))
            except OSError as error:
                raise UserError(f"{base} cannot be read: {error.strerror or error}") from None
        for location in self._remote.locations:
            try:
                self._remote.open(location).find(location.path)
            except OSError as error:
                raise UserError(f"{location.url} cannot be read: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the connections to remote folders."""
        self._remote.close()

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        """Yield all files in batches; unreadable paths make the listing partial."""
        unreadable: list[UnreadablePath] = []
        more = 0
        entries: list[Entry] = []
        for found in self._all_entries():
            if isinstance(found, UnreadablePath):
                if len(unreadable) < MAX_REPORTED_PATHS:
                    unreadable.append(found)
                else:
                    more += 1
                continue
            entries.append(found)
            if len(entries) >= BATCH_SIZE:
                yield Batch(entries)
                entries = []
        yield Batch(entries)
        is_mistake = any(one.mistake for one in unreadable)
        yield Partial(_partial_reason(unreadable, more), is_mistake) if unreadable else Complete()

    def _all_entries(self) -> Iterator[Entry | UnreadablePath]:
        for base in self._bases.paths:
            yield from self._entries_below(os.fsencode(base))
        for location in self._remote.locations:
            yield from self._remote_walk.entries(location)

    def _entries_below(self, base: bytes) -> Iterator[Entry | UnreadablePath]:
        for found in self._walk.files(base):
            if isinstance(found, UnreadablePath):
                yield found
            elif found.is_mailbox and self._reads_mail:
                yield from self._message_entries(found)
            else:
                yield self._entries.entry(found.path, found.file_stat, in_maildir=found.in_maildir)

    def _message_entries(self, found: FoundFile) -> Iterator[Entry | UnreadablePath]:
        """Yield the messages of a mailbox, or the file itself if it is not a mailbox."""
        try:
            file = self._bases.open_path(found.path, OPEN_FILE)
            try:
                if found.file_stat.st_size and not is_mailbox(file):
                    yield self._entries.entry(found.path, found.file_stat, in_maildir=found.in_maildir)
                    return
                for message in messages_of(file):
                    yield self._entries.entry(found.path, found.file_stat, message=message)
            finally:
                os.close(file)
        except OSError as error:
            yield UnreadablePath(found.path, error.strerror or str(error))


def _partial_reason(unreadable: list[UnreadablePath], more: int) -> str:
    reasons = "; ".join(f"{_shown(os.fsdecode(one.path))}: {one.reason}" for one in unreadable)
    return f"{reasons}; and {more} more" if more else reasons


def _shown(path: str) -> str:
    """Return a path without its middle if it is long: a line of the report has to be read."""
    is_long = len(path) > _SHOWN_BEGINNING + _SHOWN_END
    return f"{path[:_SHOWN_BEGINNING]}…{path[-_SHOWN_END:]}" if is_long else path
