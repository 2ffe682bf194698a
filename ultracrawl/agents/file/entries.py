"""Creates entries from files and their stat results."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from functools import lru_cache

from ultracrawl.agents.file.file_urls import MESSAGE_QUERY, DisplayPrefixes, url_of_path
from ultracrawl.agents.file.mailboxes import MAIL_TYPE, Message
from ultracrawl.agents.file.remote.port import RemoteFile
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Entry
from ultracrawl.content.file_names import media_type_of
from ultracrawl.rules.access.readers import group_reader, user_reader, without_type


class FileEntries:
    """Creates entries of files and mailbox messages."""

    def __init__(self, options: FileSection) -> None:
        self._permissions = options.permissions
        self._prefixes = DisplayPrefixes(options.display_url)

    def entry(
        self,
        path: bytes,
        file_stat: os.stat_result,
        *,
        message: Message | None = None,
        in_maildir: bool = False,
    ) -> Entry:
        """Return the entry of a file, or of a message in it."""
        url, name = url_of_path(path), os.path.basename(path)
        size, validators = file_stat.st_size, f"{file_stat.st_mtime_ns}-{file_stat.st_size}"
        if message is not None:
            url, size, validators = (
                f"{url}{MESSAGE_QUERY}{message.name.hex()}",
                message.size,
                message.checksum,
            )
        acl: tuple[str, ...] = ()
        if self._permissions:
            acl = readers_of(file_stat)
            validators = f"{validators}-{file_stat.st_mode:o}-{file_stat.st_uid}-{file_stat.st_gid}"
        return Entry(
            url,
            display_url=self._prefixes.display_url(url),
            validators=validators,
            name=name.decode("utf-8", "replace"),
            attributes={"size": (str(size),)},
            last_modified=max(file_stat.st_mtime, 0.0),
            acl=acl,
            owner=user_name(file_stat.st_uid),
            owner_format="posix",
            content_type=MAIL_TYPE if message or in_maildir else media_type_of(url.lower()),
        )

    def remote_entry(self, url: str, file: RemoteFile) -> Entry:
        """Return the entry of a file of a remote folder."""
        parts = [str(round(file.modified * 1e9)), str(file.size), file.version]
        if self._permissions:
            # Without types, as earlier versions had them: else all files were read again for their sake.
            parts += [file.owner, *map(without_type, file.readers)]
        return Entry(
            url,
            display_url=self._prefixes.display_url(url),
            validators="-".join(filter(None, parts)),
            name=file.name.decode("utf-8", "replace"),
            attributes={"size": (str(file.size),)},
            last_modified=file.modified,
            acl=file.readers if self._permissions else (),
            owner=file.owner,
            content_type=media_type_of(url.lower()),
        )


def readers_of(file_stat: os.stat_result) -> tuple[str, ...]:
    """Return the user and group that may read a file by its mode; empty: everybody."""
    if file_stat.st_mode & stat.S_IROTH:
        return ()
    group = (group_reader(group_name(file_stat.st_gid)),) if file_stat.st_mode & stat.S_IRGRP else ()
    return (user_reader(user_name(file_stat.st_uid)), *group)


@lru_cache(maxsize=10_000)
def user_name(number: int) -> str:
    """Return the name of a user, or the number if it has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@lru_cache(maxsize=10_000)
def group_name(number: int) -> str:
    """Return the name of a group, or the number if it has none."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
