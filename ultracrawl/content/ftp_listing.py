"""Parser for directory listings of FTP servers: MLSD (RFC 3659), and LIST in the formats of Unix and DOS."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

FTP_LISTING = "application/x-ftp-listing"
"""The media type of the download handler's response for a directory, one URL per line."""
MAX_ENTRIES = 50_000
"""Maximum entries of one directory."""

_MAX_NAME_BYTES = 1024
_MLSD = re.compile(rb"((?:[^;= ]+=[^;]*;)+) (.+)")
_MLSD_KINDS = {b"file": False, b"dir": True}
_UNIX = re.compile(
    rb"(?P<kind>[-dlbcps])[-rwxsStTl]{9}[.+@]?\s+\d+\s+\S+\s+(?:\S+\s+)?\d+\s+"
    rb"[A-Za-z]{3}\s+\d{1,2}\s+(?:\d{4}|\d{1,2}:\d{2}) (?P<name>.+)"
)
_DOS = re.compile(rb"\d\d-\d\d-\d\d(?:\d\d)?\s+\d\d:\d\d(?:[AP]M)?\s+(?P<kind><DIR>|[\d,.]+)\s+(?P<name>.+)")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class FtpEntry(NamedTuple):
    """A file or directory in a listing; the name is not decoded."""

    name: bytes
    is_directory: bool


def parse_mlsd(data: bytes) -> list[FtpEntry]:
    """Parse the reply to MLSD; symbolic links and special files are left out."""
    return _bounded(map(_mlsd_entry, data.splitlines()))


def parse_list(data: bytes) -> list[FtpEntry]:
    """Parse the reply to LIST in the format of Unix or DOS; symbolic links are left out."""
    return _bounded(map(_list_entry, data.splitlines()))


def entry_urls(directory: str, entries: Iterable[FtpEntry]) -> list[str]:
    """Return the URLs of entries below the URL of their directory, which ends with a slash."""
    return [directory + quote(name) + ("/" if is_directory else "") for name, is_directory in entries]


def is_ftp_listing(url: str, content_type: str) -> bool:
    """Whether a response is a listing; a web server cannot forge one, because the URL has to be `ftp:`."""
    return content_type == FTP_LISTING and url.startswith("ftp:")


def _mlsd_entry(line: bytes) -> FtpEntry | None:
    match = _MLSD.fullmatch(line)
    if match is None:
        return None
    facts = dict(fact.lower().split(b"=", 1) for fact in match[1].split(b";") if fact)
    is_directory = _MLSD_KINDS.get(facts.get(b"type", b""))
    return None if is_directory is None else FtpEntry(match[2], is_directory)


def _list_entry(line: bytes) -> FtpEntry | None:
    match = _UNIX.fullmatch(line)
    if match is not None:
        kind = match["kind"]
        return FtpEntry(match["name"], kind == b"d") if kind in b"-d" else None
    match = _DOS.fullmatch(line)
    return None if match is None else FtpEntry(match["name"], match["kind"] == b"<DIR>")


def _bounded(entries: Iterable[FtpEntry | None]) -> list[FtpEntry]:
    """Return the valid entries, each name once, sorted by name."""
    valid: dict[bytes, FtpEntry] = {}
    for entry in entries:
        if entry is not None and _is_file_name(entry.name):
            valid.setdefault(entry.name, entry)
            if len(valid) >= MAX_ENTRIES:
                break
    return sorted(valid.values())


def _is_file_name(name: bytes) -> bool:
    """Whether a name is safe: it cannot lead out of the directory or inject FTP commands."""
    return (
        name not in (b".", b"..")
        and len(name) <= _MAX_NAME_BYTES
        and not _CONTROL.search(name)
        and b"/" not in name
        and b"\\" not in name
    )
