"""Writes OLE compound files ([MS-CFB], version 3), so that tests can make Outlook messages and old presentations."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise

from support.files import slide_link

_SECTOR = 512
_MINI = 64
_CUTOFF = 4096
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_STREAM, _STORAGE, _ROOT = 2, 1, 5

Tree = Mapping[str, "bytes | Tree"]


def compound(tree: Tree) -> bytes:
    """Return a compound file with these streams (bytes) and storages (mappings)."""
    return _Writer(tree).file()


class _Writer:
    def __init__(self, tree: Tree) -> None:
        self._entries: list[list[object]] = []
        self._sectors: list[bytes] = []
        self._fat: list[int] = []
        self._mini = bytearray()
        self._minifat: list[int] = []
        root = self._entry("Root Entry", _ROOT)
        root[3] = self._children(tree)
        root[4], root[5] = self._chain(bytes(self._mini)), len(self._mini)

    def _entry(self, name: str, kind: int) -> list[object]:
        entry: list[object] = [name, kind, _FREE, _FREE, 0, 0]  # name, kind, right, child, start, size
        self._entries.append(entry)
        return entry

    def _children(self, tree: Tree) -> int:
        """Write the members of a storage as a chain of right siblings; return the number of the first."""
        numbers = []
        for name in sorted(tree, key=lambda text: (len(text), text.upper())):
            value = tree[name]
            numbers.append(len(self._entries))
            if isinstance(value, bytes):
                entry = self._entry(name, _STREAM)
                entry[4] = self._chain(value) if len(value) >= _CUTOFF else self._mini_chain(value)
                entry[5] = len(value)
            else:
                entry = self._entry(name, _STORAGE)
                entry[3] = self._children(value)
        for here, following in pairwise(numbers):
            self._entries[here][2] = following
        return numbers[0] if numbers else _FREE

    def _chain(self, data: bytes) -> int:
        if not data:
            return _END
        first = len(self._sectors)
        for at in range(0, len(data), _SECTOR):
            self._sectors.append(data[at : at + _SECTOR].ljust(_SECTOR, b"\0"))
            self._fat.append(len(self._sectors))
        self._fat[-1] = _END
        return first

    def _mini_chain(self, data: bytes) -> int:
        if not data:
            return _END
        first = len(self._minifat)
        for at in range(0, len(data), _MINI):
            self._mini += data[at : at + _MINI].ljust(_MINI, b"\0")
            self._minifat.append(len(self._minifat) + 1)
        self._minifat[-1] = _END
        return first

    def _directory(self) -> bytes:
        out = b""
        for name, kind, right, child, start, size in self._entries:
            label = str(name).encode("utf-16-le") + b"\0\0"
            out += label.ljust(64, b"\0") + struct.pack("<HBB", len(label), kind, 1)
            out += (
                struct.pack("<III", _FREE, right, child)
                + bytes(16 + 4 + 16)
                + struct.pack("<IQ", start, size)
            )
        empty = bytes(68) + struct.pack("<III", _FREE, _FREE, _FREE) + bytes(48)
        return out + empty * (-len(self._entries) % 4)

    def file(self) -> bytes:
        minifat = struct.pack(f"<{len(self._minifat)}I", *self._minifat)
        minifat = minifat.ljust(-(-len(minifat) // _SECTOR) * _SECTOR, b"\xff")
        minifat_start = self._chain(minifat)
        directory_start = self._chain(self._directory())
        count = 1
        while (len(self._fat) + count) * 4 > count * _SECTOR:
            count += 1
        fat_start = len(self._sectors)
        fat = [*self._fat, *[_FAT] * count]
        packed = struct.pack(f"<{len(fat)}I", *fat).ljust(count * _SECTOR, b"\xff")
        difat = [fat_start + number for number in range(count)]
        header = (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
        )
        header += bytes(6) + struct.pack("<IIIIIIIIII", 0, count, directory_start, 0, _CUTOFF, minifat_start,
                                         len(minifat) // _SECTOR, _END, 0, difat[0])  # fmt: skip
        header += struct.pack("<108I", *(difat[1:] + [_FREE] * (108 - len(difat[1:]))))
        return header + b"".join(self._sectors) + packed


def outlook_message(
    subject: str,
    body: str,
    sender: str,
    *,
    attachments: Mapping[str, bytes] | None = None,
    sent: datetime | None = None,
) -> bytes:
    """Return a message as Outlook saves it ([MS-OXMSG])."""
    moment = int(
        ((sent or datetime(2024, 3, 1, 12, tzinfo=UTC)) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()
    )
    texts = {0x001A: "IPM.Note", 0x0037: subject, 0x1000: body, 0x0C1A: sender, 0x0C1F: "ann@mail.example"}
    tree: dict[str, bytes | Tree] = _properties(
        texts, 32, struct.pack("<HHIQ", 0x40, 0x39, 6, moment * 10**7)
    )
    tree["__nameid_version1.0"] = {f"__substg1.0_000{number}0102": b"" for number in (2, 3, 4)}
    tree["__recip_version1.0_#00000000"] = _properties({0x3001: "Bob", 0x3003: "bob@mail.example"}, 8)
    for number, (name, data) in enumerate((attachments or {}).items()):
        inner = _properties(
            {0x3707: name, 0x3704: name}, 8, struct.pack("<HHIII", 0x102, 0x3701, 6, len(data), 0)
        )
        tree[f"__attach_version1.0_#{number:08X}"] = inner | {"__substg1.0_37010102": data}
    return compound(tree)


def _properties(texts: Mapping[int, str], head: int, more: bytes = b"") -> dict[str, bytes | Tree]:
    streams: dict[str, bytes | Tree] = {}
    table = bytes(head) + more
    for number, text in texts.items():
        data = text.encode("utf-16-le")
        streams[f"__substg1.0_{number:04X}001F"] = data
        table += struct.pack("<HHIII", 0x1F, number, 6, len(data) + 2, 0)
    streams["__properties_version1.0"] = table
    return streams


def old_presentation(*texts: str, link: str = "", more: bytes = b"") -> bytes:
    """Return a presentation of PowerPoint 97 ([MS-PPT]) that holds hardly more than the texts of one slide.

    `more` are records behind those of the document.
    """
    atoms = b"".join(record(0, 0x0FA0, text.encode("utf-16-le")) for text in texts)
    document = record(0xF, 0x03E8, record(0xF, 0x0FF0, atoms) + (slide_link(link) if link else b"")) + more
    user = record(0, 0x0FF6, struct.pack("<IIIHHBBH", 0x14, 0xE391C05F, 0, 0, 0x3F4, 3, 0, 0))
    return compound({"PowerPoint Document": document.ljust(_CUTOFF, b"\0"), "Current User": user})


def old_word(body: str, beside: Mapping[int, str], pool: Tree | None = None) -> bytes:
    """Return a document of Word 97 ([MS-DOC]) with a body and texts beside it, by the number of their kind.

    1 are footnotes, 2 headers, 4 comments, 5 endnotes, 6 text boxes. Text is in two pieces, the second of two bytes.
    """
    sizes = [len(body), *(len(beside.get(number, "")) for number in range(1, 8))]
    rest = "".join(beside.get(number, "") for number in range(1, 8))
    first, second = body + rest[:3], rest[3:] + "\r"
    document = bytearray(0x800)
    struct.pack_into("<HHHHHH", document, 0, 0xA5EC, 0x00C1, 0, 0x409, 0, 0x1200)
    struct.pack_into("<HHII", document, 0x20, 14, 0, 0, 0)
    struct.pack_into("<8i", document, 0x4C, *sizes)
    document += first.encode("cp1252").ljust(0x400, b"\0") + second.encode("utf-16-le")
    places = struct.pack("<III", 0, len(first), len(first) + len(second))
    pieces = struct.pack("<HIH", 0, 0x800 * 2 | 0x40000000, 0) + struct.pack("<HIH", 0, 0xC00, 0)
    table = b"\1\2\0ab\2" + struct.pack("<I", len(places + pieces)) + places + pieces
    struct.pack_into("<II", document, 0x1A2, 0, len(table))
    tree: dict[str, bytes | Tree] = {
        "WordDocument": bytes(document).ljust(8192, b"\0"),
        "1Table": table.ljust(4096, b"\0"),
    }
    return compound(tree | ({"ObjectPool": pool} if pool else {}))


def record(version: int, kind: int, data: bytes) -> bytes:
    """Return a record of a presentation; version 15 holds others."""
    return struct.pack("<HHI", version, kind, len(data)) + data
