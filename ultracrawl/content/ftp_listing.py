"""Listings of FTP servers: MLSD (RFC 3659), and what `ls -l` and DOS print. Nothing in them is trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

FTP_LISTING = "application/x-ftp-listing"
"""The media type under which the download handler hands on the entries of a directory, a URL a line."""
MAX_ENTRIES = 50_000
"""Entries of one directory that are read."""

_LONGEST_NAME = 1024
_MLSD = re.compile(rb"((?:[^;= ]+=[^;]*;)+) (.+)")
_MLSD_KINDS = {b"file": False, b"dir": True}
_UNIX = re.compile(
    rb"(?P<kind>[-dlbcps])[-rwxsStTl]{9}[.+@]?\s+\d+\s+\S+\s+(?:\S+\s+)?\d+\s+"
    rb"[A-Za-z]{3}\s+\d{1,2}\s+(?:\d{4}|\d{1,2}:\d{2}) (?P<name>.+)"
)
_DOS = re.compile(rb"\d\d-\d\d-\d\d(?:\d\d)?\s+\d\d:\d\d(?:[AP]M)?\s+(?P<kind><DIR>|[\d,.]+)\s+(?P<name>.+)")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class FtpEntry(NamedTuple):
    """A file or directory in a listing; the name is in the bytes of the server."""

    name: bytes
    is_directory: bool


def parse_mlsd(data: bytes) -> list[FtpEntry]:
    """Read a listing for machines; symbolic links and special files are left out."""
    return _bounded(map(_mlsd_entry, data.splitlines()))


def parse_list(data: bytes) -> list[FtpEntry]:
    """Read a listing for people, in the form of Unix or of DOS; symbolic links are left out."""
    return _bounded(map(_list_entry, data.splitlines()))


def entry_urls(directory: str, entries: Iterable[FtpEntry]) -> list[str]:
    """Return the URLs of entries below the URL of their directory, which ends with a slash."""
    return [directory + quote(name) + ("/" if is_directory else "") for name, is_directory in entries]


def is_ftp_listing(url: str, content_type: str) -> bool:
    """Whether an answer is a listing; no web server can make its answer one."""
    return content_type == FTP_LISTING and url.startswith("ftp:")


def _mlsd_entry(line: bytes) -> FtpEntry | None:
    found = _MLSD.fullmatch(line)
    if found is None:
        return None
    facts = dict(fact.lower().split(b"=", 1) for fact in found[1].split(b";") if fact)
    kind = _MLSD_KINDS.get(facts.get(b"type", b""))
    return None if kind is None else FtpEntry(found[2], kind)


def _list_entry(line: bytes) -> FtpEntry | None:
    found = _UNIX.fullmatch(line)
    if found is not None:
        kind = found["kind"]
        return FtpEntry(found["name"], kind == b"d") if kind in b"-d" else None
    found = _DOS.fullmatch(line)
    return None if found is None else FtpEntry(found["name"], found["kind"] == b"<DIR>")


def _bounded(entries: Iterable[FtpEntry | None]) -> list[FtpEntry]:
    """Return each usable entry once, in order of names; what could lead out of the directory is no name."""
    found: dict[bytes, FtpEntry] = {}
    for entry in entries:
        if entry is not None and _is_name(entry.name):
            found.setdefault(entry.name, entry)
            if len(found) >= MAX_ENTRIES:
                break
    return sorted(found.values())


def _is_name(name: bytes) -> bool:
    return (
        name not in (b".", b"..")
        and len(name) <= _LONGEST_NAME
        and not _CONTROL.search(name)
        and b"/" not in name
        and b"\\" not in name
    )
