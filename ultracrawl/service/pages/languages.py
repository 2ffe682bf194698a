"""The languages of the pages: English in the templates, others in one catalogue (`locale/LANGUAGE.po`) each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import BytesIO
from types import MappingProxyType
from typing import NamedTuple

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

DEFAULT = "en"
"""The language of the templates."""
_HIGHEST = 1.0


class Language(NamedTuple):
    """A language of the pages."""

    code: str
    """Its code (BCP 47)."""
    name: str
    """Its name in itself."""
    locale: Locale
    translations: NullTranslations


@cache
def languages() -> Mapping[str, Language]:
    """Return the languages by code, English first."""
    found = {DEFAULT: _language(DEFAULT, NullTranslations())}
    for entry in sorted(files(__package__).joinpath("locale").iterdir(), key=lambda one: one.name):
        code, _, kind = entry.name.rpartition(".")
        if kind == "po":
            compiled = BytesIO()
            write_mo(compiled, read_po(BytesIO(entry.read_bytes()), locale=code.replace("-", "_")))
            compiled.seek(0)
            found[code] = _language(code, Translations(compiled))
    return MappingProxyType(found)


def _language(code: str, translations: NullTranslations) -> Language:
    locale = Locale.parse(code, sep="-")
    name = locale.get_display_name(locale) or code
    return Language(code, name[:1].upper() + name[1:], locale, translations)


def negotiated(accepted: str) -> str:
    """Return the code of the language that an `Accept-Language` header prefers (RFC 9110, 12.5.4), or an empty text."""
    wanted: list[tuple[float, str]] = []
    for part in accepted[:1000].split(","):
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.partition("=")[2] or _HIGHEST)
        except ValueError:
            continue
        wanted.append((quality, tag.strip().lower()))
    for quality, tag in sorted(wanted, key=lambda one: -one[0]):
        for code in languages():
            if quality > 0 and code.lower() in (tag, tag.partition("-")[0]):
                return code
    return ""
