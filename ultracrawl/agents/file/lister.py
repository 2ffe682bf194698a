"""Lists the files of a source."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ultracrawl.agents.file.entries import FileEntries
from ultracrawl.agents.file.mailboxes import MAIL, is_mailbox, messages_of
from ultracrawl.agents.file.opening import FILE, FOLDER, BaseFolders
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.file.walking import FolderWalk, FoundFile, Unread
from ultracrawl.agents.port import Batch, Complete, Entry, KindSetup, Listed, Lister, Partial
from ultracrawl.content.mime import type_matches
from ultracrawl.errors import UserError

BATCH = 1000
"""Files that are listed together."""
MOST_TOLD = 3
"""What could not be looked at and is named."""


class FileLister(Lister):
    """Walks the folders of a source; a file counts as unchanged while its time and size are the same."""

    def __init__(self, setup: KindSetup[FileSection]) -> None:
        self._options = setup.options
        self._bases = BaseFolders(setup.options.paths, setup.base, symlinks=setup.options.symlinks)
        self._walk = FolderWalk(setup.options, self._bases)
        self._entries = FileEntries(setup.options)
        self._reads_mail = type_matches(MAIL, setup.source.types)

    def check_connection(self) -> None:
        """See whether the folders are there. Raises `UserError`."""
        for base in self._bases.paths:
            try:
                os.close(self._bases.open_path(os.fsencode(base), FOLDER))
            except OSError as error:
                raise UserError(f"{base} cannot be read: {error.strerror or error}") from None

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed]:
        """Yield all files in batches; what could not be looked at makes the listing partial."""
        unread: list[Unread] = []
        more = 0
        entries: list[Entry] = []
        for base in self._bases.paths:
            for found in self._found(os.fsencode(base)):
                if isinstance(found, Unread):
                    if len(unread) < MOST_TOLD:
                        unread.append(found)
                    else:
                        more += 1
                    continue
                entries.append(found)
                if len(entries) >= BATCH:
                    yield Batch(entries)
                    entries = []
        yield Batch(entries)
        yield Partial(_told(unread, more)) if unread else Complete()

    def _found(self, base: bytes) -> Iterator[Entry | Unread]:
        for found in self._walk.files(base):
            if isinstance(found, Unread):
                yield found
            elif found.is_mailbox and self._reads_mail:
                yield from self._messages(found)
            else:
                yield self._entries.entry(found.path, found.about, in_maildir=found.in_maildir)

    def _messages(self, found: FoundFile) -> Iterator[Entry | Unread]:
        """Yield the messages of a mailbox, or the file if it is none."""
        try:
            file = self._bases.open_path(found.path, FILE)
            try:
                if found.about.st_size and not is_mailbox(file):
                    yield self._entries.entry(found.path, found.about, in_maildir=found.in_maildir)
                    return
                for message in messages_of(file):
                    yield self._entries.entry(found.path, found.about, message=message)
            finally:
                os.close(file)
        except OSError as error:
            yield Unread(found.path, error.strerror or str(error))


def _told(unread: list[Unread], more: int) -> str:
    named = "; ".join(f"{os.fsdecode(one.path)}: {one.reason}" for one in unread)
    return f"{named}; and {more} more" if more else named
