"""From bytes to text: which encoding a body has, and who says so."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from ultracrawl.content.encodings import FALLBACK, codec_of
from ultracrawl.content.prescan import charset_parameter, declared_in_html, declared_in_xml

SAMPLE_BYTES = 4096
"""How much of a body is given to the detector."""

_MIN_EVIDENCE = 8
"""Bytes above 127 that a sample needs before a guess is better than the default."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HIGH = re.compile(rb"[\x80-\xff]")
_GUESSES = [
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp932", "euc_jp",
    "gb18030", "big5", "cp949",
]  # fmt: skip


def decode(body: bytes, content_type: str = "", default: str = "") -> tuple[str, str]:
    """Return the text of `body` and the codec it was read with; undecodable bytes become U+FFFD.

    `content_type` is the header's value, `default` the source's own guess, used when nothing else decides.
    """
    codec = find_charset(body, content_type, default)
    return body.decode(codec, "replace").removeprefix("\ufeff"), codec


def find_charset(body: bytes, content_type: str = "", default: str = "") -> str:
    """Return the codec of `body`.

    In this order: byte order mark, header, META, XML declaration, validity as UTF-8, detection, `default`,
    windows-1252.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec
    return (
        charset_parameter(content_type)
        or declared_in_html(body)
        or declared_in_xml(body)
        or _guess(body, default)
    )


def _guess(body: bytes, default: str) -> str:
    if body.startswith(b"<\0") or body.startswith(b"\0<"):
        return "utf-16-le" if body[0] else "utf-16-be"
    if is_utf8(body):
        return "utf-8"
    return _detect(body) or codec_of(default) or FALLBACK


def is_utf8(body: bytes) -> bool:
    """Return whether `body` is valid UTF-8."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _detect(body: bytes) -> str:
    first = _HIGH.search(body)
    start = max(0, first.start() - SAMPLE_BYTES // 4) if first else 0
    sample = body[start : start + SAMPLE_BYTES]
    if len(_HIGH.findall(sample)) < _MIN_EVIDENCE:
        return ""
    best = from_bytes(
        sample, steps=4, chunk_size=512, cp_isolation=_GUESSES, preemptive_behaviour=False
    ).best()
    return codec_of(best.encoding.replace("_", "-")) if best else ""
