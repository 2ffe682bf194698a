"""The files of a portal robot as text. What is written back has the character set and the line ends that were there."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.model import Finding
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.system.files import replace_file

_UTF_16 = {BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
_OLDER = ("cp1252", "iso-8859-1")
"""What files that are no UTF-8 are taken for, in this order; the last takes any bytes."""


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it was read; lines end with LF or CRLF, as they do in it."""

    path: Path
    text: str
    encoding: str

    @property
    def doubts(self) -> list[Finding]:
        """What is to be said of the character set: it was guessed."""
        if self.encoding not in _OLDER:
            return []
        problem = "is no UTF-8 text, and is read as ISO-8859-1 (Windows-1252)"
        return [Finding(str(self.path), 0, "file", problem, "save it as UTF-8", False)]

    def replace(self, text: str) -> None:
        """Write another text in its place, as a whole, so that nobody reads half of it.

        A link stays one. Raises `OSError`, and `UnicodeEncodeError` for what the character set does not have.
        """
        replace_file(self.path, text.encode(self.encoding))


def read_file(path: Path) -> FileText:
    """Read a file: UTF-8, UTF-16 with its mark, or else the character set of the West. Raises `OSError`."""
    track_file(path)
    try:
        data = path.read_bytes()
    except ValueError as error:  # a path that cannot be one
        raise OSError(None, str(error)) from error
    encoding = _UTF_16.get(data[:2], "utf-8")
    for candidate in (encoding, *_OLDER):
        try:
            return FileText(path, _lines(data.decode(candidate)), candidate)
        except UnicodeDecodeError:
            continue
    raise AssertionError("ISO-8859-1 takes any bytes")


def _lines(text: str) -> str:
    """Return a text whose lines end with LF; lines of old Macintoshes end with CR alone."""
    return text if "\n" in text else text.replace("\r", "\n")
