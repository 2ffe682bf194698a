"""Archives and compressed files: one document with the text of the files in it."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

from ultracrawl.content.mime import sniff_type
from ultracrawl.converters.budget import Budget
from ultracrawl.converters.convert import Source, add_member
from ultracrawl.converters.convert import convert as convert_inner
from ultracrawl.converters.errors import ConversionError, LimitReachedError
from ultracrawl.converters.extensions import type_of_name
from ultracrawl.converters.package import Package
from ultracrawl.converters.registry import missing
from ultracrawl.converters.sink import Sink

_CHUNK = 1 << 16
_ALIASES = {"application/x-zip-compressed": "application/zip", "application/x-gzip": "application/gzip"}
_GZIP = zlib.MAX_WBITS | 16


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
        yield name, body


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

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _unfold(media_type: str, data: bytes, sink: Sink) -> bytes:
    """Unfold as much as the budget allows; what came before a break or the limit is kept, and that is noted."""
    decompressor: _Decompressor
    match media_type:
        case "application/gzip":
            decompressor = zlib.decompressobj(_GZIP)
        case "application/x-bzip2":
            decompressor = bz2.BZ2Decompressor()
        case _:
            decompressor = lzma.LZMADecompressor(memlimit=128 << 20)
    limit = sink.budget.unpacked_left
    try:
        body = decompressor.decompress(data, limit)
    except (zlib.error, OSError, EOFError, lzma.LZMAError) as error:
        raise ConversionError(f"broken compressed file: {error}") from None
    try:
        sink.budget.take_unpacked(len(body) + (len(body) >= limit))
    except LimitReachedError as reached:
        sink.note(str(reached))
    if not decompressor.eof:
        sink.note("the compressed file is cut off")
    return body
