"""From bytes to text: which encoding a body has, and who says so."""

from __future__ import annotations

import codecs
import re

from ultracrawl.content.charset.encodings import FALLBACK, codec_of
from ultracrawl.content.charset.latin import latin_codec
from ultracrawl.content.charset.prescan import charset_parameter, declared_in_html, declared_in_xml

SAMPLE_BYTES = 4096
"""How much of a body is given to the detector."""

EVIDENCE_BYTES = 1 << 18
"""How much of a body is looked at for whether it is UTF-8 for the most part."""

_MIN_EVIDENCE = 8
"""Bytes above 127 that a sample needs before a guess is better than the default."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_ONE_BYTE = ("cp125", "iso8859", "koi8", "cp866", "cp874", "mac-")
_WHOLE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x80-\xff]+")
_NEVER_INSIDE = (b" ", b"\n", b"<", b",", b'"')
"""Bytes that are no part of a longer character in any encoding."""
_GUESSES = [
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp932", "euc_jp",
    "gb18030", "big5", "cp949", "tis_620", "iso8859_5", "cp866",
]  # fmt: skip
"""What the detector chooses from, where the script is not Latin or that is doubtful."""
_GUESSES_OF_PAIRS = ["euc_jp", "gb18030", "cp949"]
"""What it chooses from where bytes above 127 come in pairs everywhere: words of other scripts have any length."""
_RUNS_OF_PAIRS = 6
"""Runs of such bytes that show it."""


def decode(body: bytes, content_type: str = "", default: str = "") -> tuple[str, str]:
    """Return the text of `body` and the codec it was read with; undecodable bytes become U+FFFD.

    `content_type` is the header's value, `default` the source's own guess, used when nothing else decides.
    """
    text, codec = decode_as(find_charset(body, content_type, default), body, default)
    return text.removeprefix("\ufeff"), codec


def decode_as(codec: str, body: bytes, default: str = "") -> tuple[str, str]:
    """Return the text of `body` by the answer of `find_charset`, and the codec that it was really read with.

    What is called UTF-8 and is hardly any is told by its bytes; in what is UTF-8 for the most part, foreign bytes
    are read as windows-1252, the encoding that such pieces most often come from.
    """
    if codec != "utf-8":
        return body.decode(codec, "replace"), codec
    try:
        return body.decode("utf-8"), codec
    except UnicodeDecodeError:
        pass
    good, high = _utf8_evidence(body)
    if high > good:
        codec = _detect(body) or codec_of(default) or FALLBACK
        return body.decode(codec, "replace"), codec
    return body.decode("utf-8", _FOREIGN), codec


def _utf8_evidence(body: bytes) -> tuple[int, int]:
    """Return how many characters beyond ASCII are whole, and how many bytes above 127 belong to none, in a sample."""
    first = _HIGH.search(body)
    start = first.start() if first else 0
    sample = body[start : start + EVIDENCE_BYTES]
    found = _WHOLE.findall(sample)
    return len(found), len(_HIGH.findall(sample)) - sum(map(len, found))


def _foreign(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are not UTF-8 as windows-1252; a character that is cut off at the end stays lost."""
    assert isinstance(error, UnicodeDecodeError)
    cut_off = error.end == len(error.object) and error.object[error.start] in _LEADING
    if cut_off:
        return "\ufffd", error.end
    return error.object[error.start : error.end].decode(FALLBACK, "replace"), error.end


_FOREIGN = "ultracrawl-foreign"
_LEADING = range(0xC2, 0xF5)
"""Bytes that begin a character of several bytes in UTF-8."""
codecs.register_error(_FOREIGN, _foreign)


def find_charset(body: bytes, content_type: str = "", default: str = "") -> str:
    """Return the codec of `body`.

    In this order: byte order mark, header, META, XML declaration, validity as UTF-8, detection, `default`,
    windows-1252. What is declared as another encoding and is valid UTF-8 with characters beyond ASCII is UTF-8: text
    in an encoding of one byte a character never looks like it, in those of East Asia only a few words do by chance.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec
    declared = charset_parameter(content_type) or declared_in_html(body) or declared_in_xml(body)
    if not declared:
        return _guess(body, default)
    if declared.startswith("utf-") or body.isascii():
        return declared
    enough = declared.startswith(_ONE_BYTE) or len(_HIGH.findall(body, 0, EVIDENCE_BYTES)) >= _MIN_EVIDENCE
    return "utf-8" if enough and is_utf8(body) else declared


def _guess(body: bytes, default: str) -> str:
    if body.startswith(b"<\0") or body.startswith(b"\0<"):
        return "utf-16-le" if body[0] else "utf-16-be"
    if is_utf8(body):
        return "utf-8"
    good, high = _utf8_evidence(body)
    return "utf-8" if good >= high else _detect(body) or codec_of(default) or FALLBACK


def is_utf8(body: bytes) -> bool:
    """Return whether `body` is valid UTF-8."""
    if body.isascii():
        return True
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _sample(body: bytes, start: int) -> bytes:
    """Return a part of `body` that does not end inside a character, if it can be told: the detector refuses such."""
    sample = body[start : start + SAMPLE_BYTES]
    if start + SAMPLE_BYTES >= len(body):
        return sample
    end = max(map(sample.rfind, _NEVER_INSIDE))
    return sample[:end] if end > SAMPLE_BYTES // 2 else sample


def _detect(body: bytes) -> str:
    first = _HIGH.search(body)
    sample = _sample(body, max(0, first.start() - SAMPLE_BYTES // 4) if first else 0)
    if len(_HIGH.findall(sample)) < _MIN_EVIDENCE:
        return ""
    runs = _RUN.findall(sample)
    paired = len(runs) >= _RUNS_OF_PAIRS and not any(len(run) % 2 for run in runs)
    if not paired and (latin := latin_codec(sample)):
        return latin
    guesses = _GUESSES_OF_PAIRS if paired else _GUESSES
    from charset_normalizer import from_bytes  # noqa: PLC0415 - slow, and few pages leave it to a guess

    best = from_bytes(
        sample, steps=4, chunk_size=512, cp_isolation=guesses, preemptive_behaviour=False
    ).best()
    return codec_of(best.encoding.replace("_", "-")) if best else ""
