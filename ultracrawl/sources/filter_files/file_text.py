"""Reads files of a portal robot as text, and writes them back with the same character set and line endings."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path

from ultracrawl.content.charset.decoding import find_charset
from ultracrawl.content.charset.encodings import codec_of
from ultracrawl.dataclass import dataclass
from ultracrawl.model import Finding
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.system.files import replace_file

_UTF_16 = {BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
_OLDER = ("cp1252", "iso-8859-1")
"""Character sets tried for files that are neither UTF-8 nor what they seem to be; the last accepts any bytes."""
_NAMED = rb"[ \t]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
"""A comment that names the character set, as `# coding: EUC-KR` or what Emacs and Vim write."""
_LINES_TO_NAME_IT = 2
_TITLES = {
    "cp1252": "ISO-8859-1 (Windows-1252)",
    "iso-8859-1": "ISO-8859-1 (Windows-1252)",
    "cp949": "EUC-KR",
    "cp932": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "gb18030": "GB18030",
    "big5hkscs": "Big5",
}
"""What people call a character set."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file; lines end with LF or CRLF, as in the file."""

    path: Path
    text: str
    encoding: str
    guessed: bool = False
    """Whether nothing in the file says its character set, and it is not UTF-8."""

    @property
    def encoding_findings(self) -> list[Finding]:
        """A warning if the character set was guessed."""
        if not self.guessed:
            return []
        problem = f"is not UTF-8 text, and is read as {_TITLES.get(self.encoding, self.encoding)}"
        instead = "save it as UTF-8, or name its encoding in the first line, as `# coding: EUC-KR`"
        return [Finding(str(self.path), 0, "file", problem, instead, False)]

    def replace(self, text: str) -> None:
        """Replace the text of the file atomically, keeping symbolic links.

        Raises `OSError`, and `UnicodeEncodeError` for characters that the character set does not have.
        """
        replace_file(self.path, text.encode(self.encoding))


def read_file(path: Path) -> FileText:
    """Read a file. Raises `OSError`.

    Its character set is UTF-16 with a byte-order mark, that of a comment in its first lines, UTF-8, or else a guess.
    """
    track_file(path)
    try:
        data = path.read_bytes()
    except ValueError as error:  # an invalid path
        raise OSError(None, str(error)) from error
    for encoding, guessed in _candidates(data):
        try:
            text = data.decode(encoding)
            same = text.encode(encoding) == data  # what is written back must be what was read
        except UnicodeError:
            continue
        if same:
            return FileText(path, _lines(text), encoding, guessed)
    raise AssertionError("ISO-8859-1 accepts any bytes")


def _candidates(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the character sets that a file may have, the likeliest first, and whether that is a guess."""
    if (marked := _UTF_16.get(data[:2])) is not None:
        yield marked, False
    for line in re.split(rb"\r\n?|\n", data, maxsplit=_LINES_TO_NAME_IT)[:_LINES_TO_NAME_IT]:
        named = re.match(_NAMED, line)
        codec = codec_of(named[1].decode("ascii", "replace")) if named else ""
        if codec and not codec.startswith("utf-16"):  # then the comment would not have been found
            yield codec, False
    yield "utf-8", False
    for guess in (find_charset(data), *_OLDER):
        yield guess, True


def _lines(text: str) -> str:
    """Return a text with LF line endings if it only has CR (classic Mac OS)."""
    return text if "\n" in text else text.replace("\r", "\n")
