"""Tells apart encodings that look alike, by the bytes that only one of them has in words.

Only bodies that declare no encoding come here, and the first few kilobytes of them.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections import Counter

_UTF16_BYTES = 1024
_MIN_ZEROS = 4
_MIN_ZERO_SHARE = 0.1
"""Share of the characters of a text that are signs, blanks or digits, whose other byte is 0 in UTF-16."""
_MIN_LATIN_SHARE = 0.5
"""Share of the characters with a byte that is 0 from which a text in UTF-16 may have no others than ASCII."""
_NOT_IN_ASCII = rb"[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x80-\xff]"
_JAPANESE = (b"\x1b$B", b"\x1b$@", b"\x1b(J")
"""Sequences that switch to Japanese characters in seven bits."""

_ARABIC = frozenset((0xA0, 0xA4, 0xAC, 0xAD, 0xBB, 0xBF, *range(0xC1, 0xDB), *range(0xE0, 0xF3)))
"""All characters of ISO 8859-6: most other encodings have common letters between and after them."""
_ARTICLE = b"\xc7\xe4"
"""The Arabic article in ISO 8859-6."""
_MIN_ARTICLES = 2

_SMALL = range(0xE0, 0xFF)
"""The small Cyrillic letters but the last one, in the encodings of Windows and Macintosh."""
_MIN_SMALL_SHARE = 0.7
_MAX_CAPITAL_SHARE = 0.02
"""Share of bytes that are capital letters of Windows in a text of Macintosh, whose capitals stand elsewhere."""
_FIRST_LETTER = 0xE0
"""The small letter A, in Greek a rare one."""
_MIN_FIRST_SHARE = 0.03
_LAST_LETTERS = {"cp1251": 0xFF, "mac-cyrillic": 0xDF}
"""Where the last small letter stands, which is a common one."""
_MIN_LAST_SHARE = 0.005

_WINDOWS = rb"[\x80-\x9f]"
"""What only encodings of Windows have characters for."""
_LATIN9 = (
    rb"[a-z\xe0-\xff][\xa8\xb8\xbd][a-z\xe0-\xff]|(?<![0-9])[\xa6\xbc](?=[a-z]{2})"
    rb"|[0-9][ \xa0]?\xa4|\xa4[ \xa0]?[0-9]"
)
"""Letters of ISO 8859-15 in words, and its sign of the euro beside a number: elsewhere accents, bars and fractions."""


def utf16_codec(body: bytes) -> str:
    """Return the codec of a text in UTF-16 without a byte order mark, empty for any other text.

    Texts have zero bytes in no other encoding, and in UTF-16 at every second place.
    """
    sample = body[:_UTF16_BYTES]
    if 0 not in sample:
        return ""
    if sample.startswith((b"<\0", b"\0<")):
        return "utf-16-le" if sample[0] else "utf-16-be"
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    most, characters = max(even, odd), len(sample) / 2
    if most < max(_MIN_ZEROS, _MIN_ZERO_SHARE * characters) or min(even, odd) > most / 10:
        return ""
    if most < _MIN_LATIN_SHARE * characters and (not _has(_NOT_IN_ASCII, sample) or _is_utf8(sample)):
        return ""  # zeros got into a text in another encoding
    codec = "utf-16-be" if even > odd else "utf-16-le"
    return codec if _can_be(sample[: len(sample) // 2 * 2], codec) else ""


def _is_utf8(sample: bytes) -> bool:
    return not sample.isascii() and _can_be(sample, "utf-8")


def japanese_codec(body: bytes) -> str:
    """Return the codec of a text in ISO-2022-JP, in which all bytes are ASCII; empty for any other text."""
    if b"\x1b" in body and any(sequence in body for sequence in _JAPANESE) and _can_be(body, "iso2022_jp"):
        return "iso2022_jp"
    return ""


def arabic_codec(sample: bytes, counts: Counter[int]) -> str:
    """Return the codec of a text in ISO 8859-6, empty for any other text. `counts` are those of its bytes above 127."""
    if counts.keys() <= _ARABIC and sample.count(_ARTICLE) >= _MIN_ARTICLES:
        return "iso8859-6"
    return ""


def macintosh_codec(counts: Counter[int]) -> str:
    """Return the codec of a text in the Cyrillic encoding of Macintosh, empty for any other text."""
    high = sum(counts.values())
    windows, macintosh = (counts[byte] for byte in _LAST_LETTERS.values())
    small = sum(counts[byte] for byte in _SMALL)
    capitals = sum(counts[byte] for byte in range(0xC0, 0xDE))
    if (
        small >= _MIN_SMALL_SHARE * high
        and capitals <= _MAX_CAPITAL_SHARE * high
        and counts[_FIRST_LETTER] >= _MIN_FIRST_SHARE * high
        and macintosh >= _MIN_LAST_SHARE * high
        and macintosh > 10 * windows
    ):
        return "mac-cyrillic"
    return ""


def western_codec(body: bytes) -> str:
    """Return ISO 8859-15 for a western text with its letters in words or its sign of the euro, else windows-1252."""
    return "iso8859-15" if _has(_LATIN9, body) and not _has(_WINDOWS, body) else "cp1252"


def greek_codec(body: bytes) -> str:
    """Return ISO 8859-7 for a Greek text with its capital alpha before a small letter, else windows-1253."""
    return "iso8859-7" if _has(rb"\xb6[\xdc-\xfe]", body) and not _has(_WINDOWS, body) else "cp1253"


def _has(pattern: bytes, body: bytes) -> bool:
    """Return whether a body has a pattern, which is compiled for the first body without a declaration."""
    return re.search(pattern, body) is not None


def _can_be(sample: bytes, codec: str) -> bool:
    """Return whether a sample, which may end within a character, is text in an encoding."""
    try:
        getincrementaldecoder(codec)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
