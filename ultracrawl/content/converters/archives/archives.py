"""Converter for zip and tar archives and for compressed files."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Protocol

from ultracrawl.content.charset.decoding import find_charset, is_utf8
from ultracrawl.content.converters.conversion import Budget, ConversionError, LimitReachedError, Sink, Source
from ultracrawl.content.converters.convert import add_member
from ultracrawl.content.converters.convert import convert as convert_inner
from ultracrawl.content.converters.office.package import Package
from ultracrawl.content.converters.registry import missing, type_of_name
from ultracrawl.content.mime import sniff_type

_CHUNK = 1 << 12
"""Bytes decompressed at once; a broken file loses at most one chunk."""
_ALIASES = {"application/x-zip-compressed": "application/zip", "application/x-gzip": "application/gzip"}
_GZIP = zlib.MAX_WBITS | 16
_MAGIC = {"application/gzip": b"\x1f\x8b", "application/x-bzip2": b"BZh", "application/x-xz": b"\xfd7zXZ"}
_EAST_ASIAN = frozenset({"gb18030", "big5hkscs", "cp932", "cp949", "euc_jp"})
_CHINESE = re.compile(rb"(?:[\0-\x7f]|[\xb0-\xd7\xa3][\xa1-\xfe])*")
"""Names of frequent characters of GB 2312, of which cp437 makes frames."""
_NOT_KOREAN = re.compile(rb"[\xc9-\xd7][\xa1-\xfe]")
_PADDING = re.compile(rb"\0*")
_BROKEN = (zlib.error, OSError, EOFError, lzma.LZMAError)


def convert(source: Source, sink: Sink) -> None:
    """Convert the files of an archive in order; a compressed file that is no archive is converted itself."""
    match _ALIASES.get(source.media_type, source.media_type):
        case "application/zip":
            read_members(_zip_members(Package(source.body, sink.budget), sink), sink)
        case "application/x-tar":
            read_members(_tar_members(source.body, sink.budget), sink)
        case compressed:
            _read_compressed(compressed, source, sink)


def read_members(members: Iterable[tuple[str, bytes]], sink: Sink) -> None:
    """Add the files of an archive (name, content); of empty and unreadable files only the name."""
    for name, body in members:
        sink.meta("files", name)
        if body:
            add_member(Source(body, type_of_name(name), name=name), sink)
        else:
            sink.budget.take_member()
            sink.add(name)


def _zip_members(package: Package, sink: Sink) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents; the content of an encrypted or broken file is empty."""
    codec = _codec_of_names(package.names)
    for name in package.names:
        try:
            body = package.read(name)
        except ConversionError as error:
            sink.note(f"{name}: {error}")
            body = b""
        yield _readable(name, codec), body


def _bytes_of(name: str) -> bytes:
    """Return the bytes of a name without the UTF-8 flag, which zipfile decodes as cp437; none of another name."""
    try:
        return b"" if name.isascii() else name.encode("cp437")
    except UnicodeError:
        return b""


def _codec_of_names(names: Iterable[str]) -> str:
    """Return the codec of the names that are no UTF-8, if it is one of East Asia; else nothing."""
    raw = b"\n".join(filter(None, map(_bytes_of, names)))
    if not raw or is_utf8(raw):
        return ""
    codec = find_charset(raw)
    if codec in _EAST_ASIAN:
        return codec
    return "gb18030" if _CHINESE.fullmatch(raw) and _NOT_KOREAN.search(raw) else ""


def _readable(name: str, codec: str) -> str:
    """Return a name without the UTF-8 flag as it was meant, which is UTF-8 or in the codec of the archive."""
    raw = _bytes_of(name)
    for known in filter(None, ("utf-8", codec) if raw else ()):
        with suppress(UnicodeDecodeError):
            return raw.decode(known)
    return name


def _tar_members(body: bytes, budget: Budget) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the regular files; links and devices are skipped."""
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
    body = _decompress(media_type, source.body, sink)
    if not body:
        raise ConversionError("the compressed file is broken, or nothing is in it")
    media_type = sniff_type(body)
    name = source.name.rpartition(".")[0] or source.name
    inner = Source(body, media_type, "", name, source.default_charset)
    if missing(media_type) or media_type in ("application/gzip", "application/x-bzip2", "application/x-xz"):
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


def _decompress(media_type: str, data: bytes, sink: Sink) -> bytes:
    """Decompress as much as the budget allows; the data before an error or the limit is kept, which is noted.

    A file may have several streams in a row, as parallel compressors write them.
    """
    chunks: list[bytes] = []
    left = sink.budget.unpacked_left
    try:
        for chunk in _decompressed_chunks(media_type, data, left, sink):
            chunks.append(chunk)
            left -= len(chunk)
            sink.budget.check_time()
        sink.budget.take_unpacked(sum(map(len, chunks)) + (left <= 0))
    except LimitReachedError as limit:
        sink.note(str(limit))
    return b"".join(chunks)


def _decompressed_chunks(media_type: str, data: bytes, left: int, sink: Sink) -> Iterator[bytes]:
    """Yield decompressed data, at most `left` bytes."""
    decompressor = _decompressor(media_type)
    at = 0
    while at < len(data) and left > 0:
        if decompressor.eof:
            at = _PADDING.match(data, at).end()  # type: ignore[union-attr]  # always matches
            if not data.startswith(_MAGIC[media_type], at):
                return
            decompressor = _decompressor(media_type)
        chunk = data[at : at + _CHUNK]
        try:
            decompressed = decompressor.decompress(chunk, left)
        except _BROKEN as error:
            sink.note(f"the compressed file is broken: {error}")
            return
        at += len(chunk) - (len(decompressor.unused_data) if decompressor.eof else 0)
        left -= len(decompressed)
        yield decompressed
    if not decompressor.eof and left > 0:
        sink.note("the compressed file is cut off")
