"""Listings of FTP servers, as servers send them and as hostile ones might."""

from __future__ import annotations

import pytest

from ultracrawl.content.ftp_listing import (
    FTP_LISTING,
    MAX_ENTRIES,
    FtpEntry,
    entry_urls,
    is_ftp_listing,
    parse_list,
    parse_mlsd,
)

MLSD: list[tuple[bytes, FtpEntry | None]] = [
    (b"type=file;size=5;modify=20240101000000; a b.txt", FtpEntry(b"a b.txt", False)),
    (b"Type=DIR;Modify=20240101000000;Perm=el; sub", FtpEntry(b"sub", True)),
    (b"modify=20240101000000;type=file; ; x=y", FtpEntry(b"; x=y", False)),
    ("type=file; größe.txt".encode(), FtpEntry("größe.txt".encode(), False)),
    (b"type=cdir; .", None),
    (b"type=pdir; ..", None),
    (b"type=OS.unix=slink:/etc; link", None),
    (b"type=file; ../../etc/passwd", None),
    (b"type=file; /etc/passwd", None),
    (b"type=file; a\\b", None),
    (b"type=file; a\tb\x07", None),
    (b"type=file; " + b"x" * 2000, None),
    (b"no facts", None),
    (b"", None),
]


def test_mlsd(subtests: pytest.Subtests) -> None:
    for line, entry in MLSD:
        with subtests.test(line=line, entry=entry):
            assert parse_mlsd(line + b"\r\n") == ([entry] if entry else [])


LISTED: list[tuple[bytes, FtpEntry | None]] = [
    (b"-rw-r--r--   1 ftp  ftp      123 Jan  1 12:00 a.txt", FtpEntry(b"a.txt", False)),
    (
        b"-rw-r--r--   1 ftp  ftp      123 Jan  1  2020  led by a blank",
        FtpEntry(b" led by a blank", False),
    ),
    (b"drwxr-xr-x+  2 ftp      4096 Feb 29  2024 sub dir", FtpEntry(b"sub dir", True)),
    (b"lrwxrwxrwx   1 ftp  ftp        7 Jan  1  2020 link -> ../..", None),
    (b"brw-rw----   1 root disk     8 Jan  1  2020 sda", None),
    (b"-rw-r--r--   1 ftp  ftp      123 Jan  1 12:00 ..", None),
    (b"-rw-r--r--   1 ftp  ftp      123 Jan  1 12:00 ../x", None),
    (b"01-31-24  02:05PM                 1,234 report.doc", FtpEntry(b"report.doc", False)),
    (b"01-31-2024  14:05       <DIR>          Program Files", FtpEntry(b"Program Files", True)),
    (b"total 12", None),
    (b"<html>", None),
]


def test_list_of_unix_and_dos(subtests: pytest.Subtests) -> None:
    for line, entry in LISTED:
        with subtests.test(line=line, entry=entry):
            assert parse_list(line + b"\n") == ([entry] if entry else [])


def test_a_huge_listing_is_bounded_and_names_stand_once() -> None:
    lines = b"".join(b"type=file; n%d\r\n" % number for number in range(MAX_ENTRIES + 10))
    assert len(parse_mlsd(lines)) == MAX_ENTRIES
    assert parse_mlsd(b"type=file; a\r\ntype=dir; a\r\n") == [FtpEntry(b"a", False)]


def test_urls_of_entries_hold_every_byte_of_a_name() -> None:
    names = [FtpEntry(b"a;type=d", False), FtpEntry(b"what?#", False), FtpEntry(b"x:y \xff", True)]
    assert entry_urls("ftp://h/d/", names) == [
        "ftp://h/d/a%3Btype%3Dd",
        "ftp://h/d/what%3F%23",
        "ftp://h/d/x%3Ay%20%FF/",
    ]


def test_only_an_ftp_server_can_answer_with_a_listing() -> None:
    assert is_ftp_listing("ftp://h/", FTP_LISTING)
    assert not is_ftp_listing("http://h/", FTP_LISTING)
    assert not is_ftp_listing("ftp://h/a.html", "text/html")
