"""Zip files that are documents: members are read within the budget of the conversion, never written anywhere."""

from __future__ import annotations

import io
import zipfile
import zlib

from ultracrawl.content.converters.conversion import Budget, ConversionError

_OLE = b"\xd0\xcf\x11\xe0"
_CHUNK = 1 << 16
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class Package:
    """The members of a zip file by name. Raises `ConversionError` if it is none."""

    def __init__(self, body: bytes, budget: Budget) -> None:
        if body.startswith(_OLE):
            raise ConversionError("the document is encrypted, or in an older format than it claims")
        self._budget = budget
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _BROKEN as error:
            raise ConversionError(f"broken zip file: {error}") from None
        self.names: tuple[str, ...] = tuple(
            info.filename for info in self._zip.infolist() if not info.is_dir()
        )
        """Names as written in the file; they are labels and no paths."""
        self._known = frozenset(self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def read(self, name: str) -> bytes:
        """Return a member; empty if there is none of that name.

        Raises `ConversionError` for a broken or encrypted one, `LimitReachedError` when it unfolds to too much.
        """
        if name not in self._known:
            return b""
        if self._zip.getinfo(name).flag_bits & 1:
            raise ConversionError("the document is encrypted")
        pieces: list[bytes] = []
        try:
            with self._zip.open(name) as member:
                while piece := member.read(_CHUNK):
                    self._budget.take_unpacked(len(piece))
                    pieces.append(piece)
        except _BROKEN as error:
            raise ConversionError(f"broken zip file: {error}") from None
        return b"".join(pieces)

    def check_sizes(self) -> None:
        """Account for all members by the sizes that the file states, for a library that reads it as a whole."""
        self._budget.take_unpacked(sum(info.file_size for info in self._zip.infolist()))
