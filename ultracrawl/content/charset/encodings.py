"""Maps the encoding labels of the web (WHATWG Encoding Standard) to Python codecs."""

from __future__ import annotations

import re
from functools import lru_cache

from w3lib.encoding import resolve_encoding

FALLBACK = "cp1252"
"""The encoding that browsers assume if none is declared."""

_CODEC_NAMES = (
    "utf-8 utf-16-le utf-16-be cp866 cp874 cp949 cp932 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 "
    "cp1256 cp1257 cp1258 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 "
    "iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic "
    "gb18030 big5hkscs euc_jp iso2022_jp"
)
_WEB_CODECS = frozenset(_CODEC_NAMES.split())
_LABEL = re.compile(r"[a-z0-9][a-z0-9_.:()-]*")
_LABELS = {
    "unicode-1-1-utf-8": "utf-8",
    "unicode11utf8": "utf-8",
    "unicode20utf8": "utf-8",
    "x-unicode20utf8": "utf-8",
    "unicode": "utf-16-le",
    "utf-16": "utf-16-le",
    "csunicode": "utf-16-le",
    "ucs-2": "utf-16-le",
    "iso-10646-ucs-2": "utf-16-le",
    "unicodefeff": "utf-16-le",
    "unicodefffe": "utf-16-be",
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "logical": "iso8859-8",
    "visual": "iso8859-8",
    "hebrew": "iso8859-8",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "koi8-ru": "koi8-u",
    "mac": "mac-roman",
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-ukrainian": "mac-cyrillic",
    "x-gbk": "gb18030",
    "chinese": "gb18030",
    "x-x-big5": "big5hkscs",
    "cn-big5": "big5hkscs",
    "x-euc-jp": "euc_jp",
    "korean": "cp949",
    "ms_kanji": "cp932",
    "sun_eu_greek": "iso8859-7",
    "x-user-defined": FALLBACK,
}


@lru_cache(maxsize=512)
def codec_of(label: str) -> str:
    """Return the codec for a label such as `ISO-8859-1` (which means `cp1252`), empty for an unknown one.

    Only web encodings are known: a page cannot choose `utf-7`, `hex` or `unicode_escape`.
    """
    name = label.strip().lower()
    if not _LABEL.fullmatch(name):
        return ""
    codec = _LABELS.get(name) or resolve_encoding(
        name.removeprefix("x-") if name.startswith("x-cp") else name
    )
    return codec if codec in _WEB_CODECS else ""
