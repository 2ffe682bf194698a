"""What is said of a file as a document."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from functools import lru_cache

from ultracrawl.agents.file.file_urls import MESSAGE, DisplayPrefixes, url_of_path
from ultracrawl.agents.file.mailboxes import MAIL, Message
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Entry
from ultracrawl.content.file_names import media_type_of


class FileEntries:
    """Makes entries of files, by what the system says of them."""

    def __init__(self, options: FileSection) -> None:
        self._permissions = options.permissions
        self._prefixes = DisplayPrefixes(options.display_url)

    def entry(
        self, path: bytes, about: os.stat_result, *, message: Message | None = None, in_maildir: bool = False
    ) -> Entry:
        """Return the entry of a file, or of a message in it."""
        url, name = url_of_path(path), os.path.basename(path)
        size, validators = about.st_size, f"{about.st_mtime_ns}-{about.st_size}"
        if message is not None:
            url, size, validators = f"{url}{MESSAGE}{message.name.hex()}", message.size, message.checksum
        acl: tuple[str, ...] = ()
        if self._permissions:
            acl = readers_of(about)
            validators = f"{validators}-{about.st_mode:o}-{about.st_uid}-{about.st_gid}"
        return Entry(
            url,
            display_url=self._prefixes.shown(url),
            validators=validators,
            name=name.decode("utf-8", "replace"),
            attributes={"size": (str(size),)},
            last_modified=max(about.st_mtime, 0.0),
            acl=acl,
            owner=user_name(about.st_uid),
            owner_format="posix",
            content_type=MAIL if message or in_maildir else media_type_of(url.lower()),
        )


def readers_of(about: os.stat_result) -> tuple[str, ...]:
    """Return who may read a file by its mode, as searches name them; nobody named is everybody."""
    if about.st_mode & stat.S_IROTH:
        return ()
    group = (group_name(about.st_gid),) if about.st_mode & stat.S_IRGRP else ()
    return (user_name(about.st_uid), *group)


@lru_cache(maxsize=10_000)
def user_name(number: int) -> str:
    """Return the name of a user, or the number where there is none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@lru_cache(maxsize=10_000)
def group_name(number: int) -> str:
    """Return the name of a group, or the number where there is none."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
