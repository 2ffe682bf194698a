"""Reads files of a portal robot as text, and writes them back with the same character set and line endings."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.model import Finding
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.system.files import replace_file

_UTF_16 = {BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
_OLDER = ("cp1252", "iso-8859-1")
"""Character sets tried for files that are not UTF-8, in this order; the last accepts any bytes."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file; lines end with LF or CRLF, as in the file."""

    path: Path
    text: str
    encoding: str

    @property
    def encoding_findings(self) -> list[Finding]:
        """A warning if the character set was guessed."""
        if self.encoding not in _OLDER:
            return []
        problem = "is not UTF-8 text, and is read as ISO-8859-1 (Windows-1252)"
        return [Finding(str(self.path), 0, "file", problem, "save it as UTF-8", False)]

    def replace(self, text: str) -> None:
        """Replace the text of the file atomically, keeping symbolic links.

        Raises `OSError`, and `UnicodeEncodeError` for characters that the character set does not have.
        """
        replace_file(self.path, text.encode(self.encoding))


def read_file(path: Path) -> FileText:
    """Read a file: UTF-8, UTF-16 with a byte-order mark, else Windows-1252 or ISO-8859-1. Raises `OSError`."""
    track_file(path)
    try:
        data = path.read_bytes()
    except ValueError as error:  # an invalid path
        raise OSError(None, str(error)) from error
    encoding = _UTF_16.get(data[:2], "utf-8")
    for candidate in (encoding, *_OLDER):
        try:
            return FileText(path, _lines(data.decode(candidate)), candidate)
        except UnicodeDecodeError:
            continue
    raise AssertionError("ISO-8859-1 accepts any bytes")


def _lines(text: str) -> str:
    """Return a text with LF line endings if it only has CR (classic Mac OS)."""
    return text if "\n" in text else text.replace("\r", "\n")
