"""Archives and compressed files: one document with the text of the files in it."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

from ultracrawl.content.converters.conversion import Budget, ConversionError, LimitReachedError, Sink, Source
from ultracrawl.content.converters.convert import add_member
from ultracrawl.content.converters.convert import convert as convert_inner
from ultracrawl.content.converters.office.package import Package
from ultracrawl.content.converters.registry import missing, type_of_name
from ultracrawl.content.mime import sniff_type

_CHUNK = 1 << 12
"""Bytes that are unfolded at once: what a break costs at most."""
_ALIASES = {"application/x-zip-compressed": "application/zip", "application/x-gzip": "application/gzip"}
_GZIP = zlib.MAX_WBITS | 16
_MAGIC = {"application/gzip": b"\x1f\x8b", "application/x-bzip2": b"BZh", "application/x-xz": b"\xfd7zXZ"}
_PADDING = re.compile(rb"\0*")
_BROKEN = (zlib.error, OSError, EOFError, lzma.LZMAError)


def convert(source: Source, sink: Sink) -> None:
    """Read the files of an archive in their order; a compressed file that is no archive is what it holds."""
    match _ALIASES.get(source.media_type, source.media_type):
        case "application/zip":
            read_members(_zip_members(Package(source.body, sink.budget), sink), sink)
        case "application/x-tar":
            read_members(_tar_members(source.body, sink.budget), sink)
        case compressed:
            _read_compressed(compressed, source, sink)


def read_members(members: Iterable[tuple[str, bytes]], sink: Sink) -> None:
    """Add files of an archive, names and contents; what is empty or could not be read is there by its name."""
    for name, body in members:
        sink.meta("files", name)
        if body:
            add_member(Source(body, type_of_name(name), name=name), sink)
        else:
            sink.budget.take_member()
            sink.add(name)


def _zip_members(package: Package, sink: Sink) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents; a file that is encrypted or broken is there by its name alone."""
    for name in package.names:
        try:
            body = package.read(name)
        except ConversionError as error:
            sink.note(f"{name}: {error}")
            body = b""
        yield _readable(name), body


def _readable(name: str) -> str:
    """Return a name of UTF-8 that is not marked as such, which zipfile reads as that of a DOS program."""
    try:
        return name if name.isascii() else name.encode("cp437").decode()
    except UnicodeError:
        return name


def _tar_members(body: bytes, budget: Budget) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the regular files; links and devices are passed over."""
    try:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                if file is not None:
                    budget.take_unpacked(member.size)
                    yield member.name, file.read()
                else:
                    budget.take_member()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise ConversionError(f"broken tar archive: {error}") from None


def _read_compressed(media_type: str, source: Source, sink: Sink) -> None:
    body = _unfold(media_type, source.body, sink)
    if not body:
        raise ConversionError("the compressed file is broken, or nothing is in it")
    found = sniff_type(body)
    name = source.name.rpartition(".")[0] or source.name
    inner = Source(body, found, "", name, source.default_charset)
    if missing(found) or found in ("application/gzip", "application/x-bzip2", "application/x-xz"):
        add_member(inner, sink)
    else:
        convert_inner(inner, sink)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _decompressor(media_type: str) -> _Decompressor:
    match media_type:
        case "application/gzip":
            return zlib.decompressobj(_GZIP)
        case "application/x-bzip2":
            return bz2.BZ2Decompressor()
        case _:
            return lzma.LZMADecompressor(memlimit=128 << 20)


def _unfold(media_type: str, data: bytes, sink: Sink) -> bytes:
    """Unfold as much as the budget allows; what came before a break or the limit is kept, and that is noted.

    A file may be several streams in a row, as programs write them that use several processors.
    """
    pieces: list[bytes] = []
    left = sink.budget.unpacked_left
    try:
        for piece in _pieces(media_type, data, left, sink):
            pieces.append(piece)
            left -= len(piece)
            sink.budget.check_time()
        sink.budget.take_unpacked(sum(map(len, pieces)) + (left <= 0))
    except LimitReachedError as reached:
        sink.note(str(reached))
    return b"".join(pieces)


def _pieces(media_type: str, data: bytes, left: int, sink: Sink) -> Iterator[bytes]:
    """Yield what is unfolded, at most `left` bytes."""
    decompressor = _decompressor(media_type)
    at = 0
    while at < len(data) and left > 0:
        if decompressor.eof:
            at = _PADDING.match(data, at).end()  # type: ignore[union-attr]  # it fits everywhere
            if not data.startswith(_MAGIC[media_type], at):
                return
            decompressor = _decompressor(media_type)
        chunk = data[at : at + _CHUNK]
        try:
            piece = decompressor.decompress(chunk, left)
        except _BROKEN as error:
            sink.note(f"the compressed file is broken: {error}")
            return
        at += len(chunk) - (len(decompressor.unused_data) if decompressor.eof else 0)
        left -= len(piece)
        yield piece
    if not decompressor.eof and left > 0:
        sink.note("the compressed file is cut off")
