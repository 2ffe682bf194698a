"""Which encoding of one byte a letter a text in Latin script has: that in which it has the letters of one language."""

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
"""The letters beyond ASCII of each language that is written in an encoding."""
_ALPHABETS["iso8859-2"] = _ALPHABETS["cp1250"]

_QUOTES = frozenset("«»")
"""Quotation marks of many languages, whose bytes are a rare letter in ISO 8859-2."""
_SIGNS = frozenset("\xa0«»„“”‚‘’‹›–—…•°§©®™€£´`")
"""What stands in texts of all these languages."""
_FEWEST = 2
"""Different letters that have to speak for another encoding than the western one, one of which that one lacks."""
_MOST_IN_RUNS = 0.25
"""Of the bytes above 127, those in runs of three and more: hardly any in Latin script, most in every other."""
_HIGH = re.compile(rb"[\x80-\xff]+")


def latin_codec(sample: bytes) -> str:
    """Return the codec of a text in Latin script, empty if it is in another script."""
    runs = _HIGH.findall(sample)
    high = sum(map(len, runs))
    if not high or sum(len(run) for run in runs if len(run) > 2) > _MOST_IN_RUNS * high:
        return ""
    counts = Counter(b"".join(runs))
    best, most = WESTERN, 0.0
    for codec in _ALPHABETS:
        share = _share(counts, codec)
        if share > most:
            best, most = codec, share
    return best


def _share(counts: Counter[int], codec: str) -> float:
    """Return how much of the bytes are letters of one and the same language, if they are in an encoding."""
    letters, western = _letters(codec), _letters(WESTERN)
    written = {
        byte: count
        for byte, count in counts.items()
        if letters[byte] not in _SIGNS and western[byte] not in _QUOTES
    }
    total = sum(written.values()) or 1
    most = 0.0
    for alphabet in _ALPHABETS[codec]:
        own = [byte for byte in written if letters[byte] in alphabet]
        if codec == WESTERN or (len(own) >= _FEWEST and any(letters[byte] != western[byte] for byte in own)):
            most = max(most, sum(written[byte] for byte in own) / total)
    return most


@cache
def _letters(codec: str) -> dict[int, str]:
    """Return what each byte above 127 is, in lower case."""
    return {byte: bytes([byte]).decode(codec, "replace").lower() for byte in range(128, 256)}
