"""Detects the single-byte encoding of a text in Latin script: the one in which it has the letters of one language."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

WESTERN = "cp1252"
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
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


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
