"""Detects the encoding of a body from its declarations and bytes, and decodes it."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from functools import cache

from ultracrawl.content.charset.encodings import FALLBACK, codec_of
from ultracrawl.content.charset.prescan import charset_parameter, declared_in_html, declared_in_xml

SAMPLE_BYTES = 4096
"""Size of the sample for the detector."""

EVIDENCE_BYTES = 1 << 18
"""Size of the sample that decides whether a body is mostly UTF-8."""

_MIN_EVIDENCE = 8
"""Bytes above 127 that a sample needs before a guess is better than the default."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SINGLE_BYTE_CODECS = ("cp125", "iso8859", "koi8", "cp866", "cp874", "mac-")
_UTF8_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_ALWAYS_SINGLE = (b" ", b"\n", b"<", b",", b'"')
"""Bytes that are not part of a multi-byte character in any encoding."""
_GUESSES = [
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp932", "euc_jp",
    "gb18030", "big5", "cp949", "tis_620", "iso8859_5", "cp866",
]  # fmt: skip
"""Candidates of the detector if the script is not Latin or in doubt."""
_TWO_BYTE_GUESSES = ["euc_jp", "gb18030", "cp949"]
"""Candidates if all runs of bytes above 127 have even lengths: words of other scripts have any length."""
_MIN_EVEN_RUNS = 6
"""Runs needed for that."""


def decode(body: bytes, content_type: str = "", default: str = "") -> tuple[str, str]:
    """Return the text of `body` and the codec used; undecodable bytes become U+FFFD.

    `content_type` is the value of the header, `default` the encoding of the source if nothing else decides.
    """
    text, codec = decode_as(find_charset(body, content_type, default), body, default)
    return text.removeprefix("\ufeff"), codec


def decode_as(codec: str, body: bytes, default: str = "") -> tuple[str, str]:
    """Decode `body` with the codec of `find_charset`; return the text and the codec actually used.

    For alleged UTF-8 that mostly is not, the codec is detected from the bytes. In text that mostly is UTF-8, invalid
    bytes are decoded as windows-1252, the encoding that such fragments most often come from.
    """
    if codec != "utf-8":
        return body.decode(codec, "replace"), codec
    try:
        return body.decode("utf-8"), codec
    except UnicodeDecodeError:
        pass
    valid, invalid = _utf8_evidence(body)
    if invalid > valid:
        codec = _detect(body) or codec_of(default) or FALLBACK
        return body.decode(codec, "replace"), codec
    return body.decode("utf-8", _FALLBACK_HANDLER), codec


def _utf8_evidence(body: bytes) -> tuple[int, int]:
    """Return the numbers of valid non-ASCII characters and of invalid bytes in a sample."""
    first = _HIGH_BYTE.search(body)
    start = first.start() if first else 0
    sample = body[start : start + EVIDENCE_BYTES]
    characters = _UTF8_CHARACTER.findall(sample)
    return len(characters), len(_HIGH_BYTE.findall(sample)) - sum(map(len, characters))


def _decode_as_fallback(error: UnicodeError) -> tuple[str, int]:
    """Decode invalid bytes as windows-1252; a character truncated at the end of the body becomes U+FFFD."""
    assert isinstance(error, UnicodeDecodeError)
    is_truncated = error.end == len(error.object) and error.object[error.start] in _LEADING_BYTES
    if is_truncated:
        return "\ufffd", error.end
    return error.object[error.start : error.end].decode(FALLBACK, "replace"), error.end


_FALLBACK_HANDLER = "ultracrawl-foreign"
_LEADING_BYTES = range(0xC2, 0xF5)
"""First bytes of multi-byte characters in UTF-8."""
codecs.register_error(_FALLBACK_HANDLER, _decode_as_fallback)


def find_charset(body: bytes, content_type: str = "", default: str = "") -> str:
    """Return the codec of `body`.

    In this order: byte order mark, header, META, XML declaration, validity as UTF-8, detection, `default`,
    windows-1252. A body that is declared otherwise but is valid UTF-8 with non-ASCII characters is UTF-8: text in
    single-byte encodings is never valid UTF-8, in those of East Asia only a few words are by chance.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec
    declared = charset_parameter(content_type) or declared_in_html(body) or declared_in_xml(body)
    if not declared:
        return _guess(body, default)
    if declared.startswith("utf-") or body.isascii():
        return declared
    has_evidence = (
        declared.startswith(_SINGLE_BYTE_CODECS)
        or len(_HIGH_BYTE.findall(body, 0, EVIDENCE_BYTES)) >= _MIN_EVIDENCE
    )
    return "utf-8" if has_evidence and is_utf8(body) else declared


def _guess(body: bytes, default: str) -> str:
    if (0 in body[:SAMPLE_BYTES] or 0x1B in body) and (signed := _by_signs(body)):
        return signed
    if is_utf8(body):
        return "utf-8"
    valid, invalid = _utf8_evidence(body)
    return "utf-8" if valid >= invalid else _detect(body) or codec_of(default) or FALLBACK


def _by_signs(body: bytes) -> str:
    """Return the codec of a body in an encoding all characters of which may be ASCII by their bytes, or empty."""
    from ultracrawl.content.charset.distinctions import japanese_codec, utf16_codec  # noqa: PLC0415 - rarely needed

    return utf16_codec(body) or japanese_codec(body)


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
    """Return a sample of `body` that does not end within a character, if possible: the detector refuses such."""
    sample = body[start : start + SAMPLE_BYTES]
    if start + SAMPLE_BYTES >= len(body):
        return sample
    end = max(map(sample.rfind, _ALWAYS_SINGLE))
    return sample[:end] if end > SAMPLE_BYTES // 2 else sample


def _detect(body: bytes) -> str:
    first = _HIGH_BYTE.search(body)
    sample = _sample(body, max(0, first.start() - SAMPLE_BYTES // 4) if first else 0)
    if len(_HIGH_BYTE.findall(sample)) < _MIN_EVIDENCE:
        return ""
    from ultracrawl.content.charset.distinctions import (  # noqa: PLC0415 - few pages need detection
        arabic_codec,
        greek_codec,
        macintosh_codec,
        western_codec,
    )

    runs = _HIGH_RUN.findall(sample)
    is_two_byte = len(runs) >= _MIN_EVEN_RUNS and not any(len(run) % 2 for run in runs)
    if not is_two_byte:
        if latin := latin_codec(sample):
            return western_codec(body[:EVIDENCE_BYTES]) if latin == WESTERN else latin
        counts = Counter(b"".join(runs))
        if eastern := arabic_codec(sample, counts) or macintosh_codec(counts):
            return eastern
    guesses = _TWO_BYTE_GUESSES if is_two_byte else _GUESSES
    from charset_normalizer import from_bytes  # noqa: PLC0415 - slow to import

    best = from_bytes(
        sample, steps=4, chunk_size=512, cp_isolation=guesses, preemptive_behaviour=False
    ).best()
    codec = codec_of(best.encoding.replace("_", "-")) if best else ""
    return greek_codec(sample) if codec == "cp1253" else codec


WESTERN = "cp1252"
VIETNAMESE = "cp1258"
_TONES = "\u0300\u0301\u0303\u0309\u0323"
"""The marks of Vietnamese, without which the other letters are those of many languages."""
_ALPHABETS = {
    WESTERN: (
        "àâæçéèêëîïôœùûüÿ", "äöüß", "áéíñóúü¿¡ªº", "áàâãçéêíóôõúüªº", "àèéìíîòóùú", "àçéèíïóòúü·", "àâäçéèêëîïöôóü",
        "äåöé", "æøåéóòôêü", "áéíóúýæöðþ", "äöüõšž",
    ),
    "cp1250": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "cp1254": ("çğıöşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž"),
    "iso8859-3": ("ĉĝĥĵŝŭ", "àċèġħìòùż"),
    VIETNAMESE: (f"ăâđêôơưàáèéìíòóùúý{_TONES}",),
}  # fmt: skip
"""The non-ASCII letters of each language that is written in an encoding."""
_ALPHABETS["iso8859-2"] = _ALPHABETS["cp1250"]

_QUOTES = frozenset("«»")
"""Quotation marks of many languages; their bytes are rare letters in ISO 8859-2."""
_SIGNS = frozenset("\xa0«»„“”‚‘’‹›–—…•°§©®™€£´`")
"""Characters that texts of all these languages contain."""
_MIN_LETTERS = 2
"""Different letters needed for an encoding other than the western one, which must lack one of them."""
_MAX_RUN_SHARE = 0.25
"""Maximum share of bytes above 127 in runs of three or more: in Latin script there are hardly any, in others most."""


def latin_codec(sample: bytes) -> str:
    """Return the codec of a text in Latin script, empty if it is in another script."""
    runs = _HIGH_RUN.findall(sample)
    high = sum(map(len, runs))
    if not high or sum(len(run) for run in runs if len(run) > 2) > _MAX_RUN_SHARE * high:
        return ""
    counts = Counter(b"".join(runs))
    best, best_share = WESTERN, 0.0
    for codec in _ALPHABETS:
        share = _share(counts, codec)
        if share > best_share:
            best, best_share = codec, share
    return best


def _share(counts: Counter[int], codec: str) -> float:
    """Return the largest share of the bytes that are letters of one language in the encoding."""
    letters, western = _letters(codec), _letters(WESTERN)
    written = {
        byte: count
        for byte, count in counts.items()
        if letters[byte] not in _SIGNS and western[byte] not in _QUOTES
    }
    if codec == VIETNAMESE and not any(letters[byte] in _TONES for byte in written):
        return 0.0
    total = sum(written.values()) or 1
    largest = 0.0
    for alphabet in _ALPHABETS[codec]:
        own = [byte for byte in written if letters[byte] in alphabet]
        differs = len(own) >= _MIN_LETTERS and any(letters[byte] != western[byte] for byte in own)
        if codec == WESTERN or differs:
            largest = max(largest, sum(written[byte] for byte in own) / total)
    return largest


@cache
def _letters(codec: str) -> dict[int, str]:
    """Return the character of each byte above 127, in lower case."""
    return {byte: bytes([byte]).decode(codec, "replace").lower() for byte in range(128, 256)}
