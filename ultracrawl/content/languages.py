"""Language codes (ISO 639-1) and English names of languages."""

from __future__ import annotations

UNKNOWN = "unknown"
"""The code for a language that cannot be detected."""

_NAMES = """
aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; am Amharic; an Aragonese; ar Arabic; as Assamese;
av Avaric; ay Aymara; az Azerbaijani; ba Bashkir; be Belarusian; bg Bulgarian; bi Bislama; bm Bambara;
bn Bengali; bo Tibetan; br Breton; bs Bosnian; ca Catalan, Valencian; ce Chechen; ch Chamorro; co Corsican;
cr Cree; cs Czech; cu Church Slavic; cv Chuvash; cy Welsh; da Danish; de German; dv Divehi, Maldivian;
dz Dzongkha; ee Ewe; el Greek; en English; eo Esperanto; es Spanish, Castilian; et Estonian; eu Basque;
fa Persian, Farsi; ff Fulah; fi Finnish; fj Fijian; fo Faroese; fr French; fy Western Frisian, Frisian;
ga Irish; gd Scottish Gaelic, Gaelic; gl Galician; gn Guarani; gu Gujarati; gv Manx; ha Hausa; he Hebrew;
hi Hindi; ho Hiri Motu; hr Croatian; ht Haitian; hu Hungarian; hy Armenian; hz Herero; ia Interlingua;
id Indonesian; ie Interlingue; ig Igbo; ii Sichuan Yi; ik Inupiaq; io Ido; is Icelandic; it Italian;
iu Inuktitut; ja Japanese; jv Javanese; ka Georgian; kg Kongo; ki Kikuyu; kj Kuanyama; kk Kazakh;
kl Kalaallisut, Greenlandic; km Khmer; kn Kannada; ko Korean; kr Kanuri; ks Kashmiri; ku Kurdish; kv Komi;
kw Cornish; ky Kirghiz, Kyrgyz; la Latin; lb Luxembourgish; lg Ganda; li Limburgish; ln Lingala; lo Lao;
lt Lithuanian; lu Luba-Katanga; lv Latvian; mg Malagasy; mh Marshallese; mi Maori; mk Macedonian;
ml Malayalam; mn Mongolian; mr Marathi; ms Malay; mt Maltese; my Burmese; na Nauru;
nb Norwegian Bokmal, Norwegian Bokmål, Bokmål; nd North Ndebele; ne Nepali; ng Ndonga; nl Dutch, Flemish;
nn Norwegian Nynorsk, Nynorsk; no Norwegian; nr South Ndebele; nv Navajo; ny Chichewa; oc Occitan; oj Ojibwa;
om Oromo; or Oriya, Odia; os Ossetian; pa Punjabi, Panjabi; pi Pali; pl Polish; ps Pashto; pt Portuguese;
qu Quechua; rm Romansh; rn Rundi; ro Romanian, Moldavian; ru Russian; rw Kinyarwanda; sa Sanskrit;
sc Sardinian; sd Sindhi; se Northern Sami; sg Sango; si Sinhala, Sinhalese; sk Slovak; sl Slovenian, Slovene;
sm Samoan; sn Shona; so Somali; sq Albanian; sr Serbian; ss Swati; st Southern Sotho; su Sundanese;
sv Swedish; sw Swahili; ta Tamil; te Telugu; tg Tajik; th Thai; ti Tigrinya; tk Turkmen; tl Tagalog;
tn Tswana; to Tonga; tr Turkish; ts Tsonga; tt Tatar; tw Twi; ty Tahitian; ug Uighur, Uyghur; uk Ukrainian;
ur Urdu; uz Uzbek; ve Venda; vi Vietnamese; vo Volapük; wa Walloon; wo Wolof; xh Xhosa; yi Yiddish; yo Yoruba;
za Zhuang; zh Chinese; zu Zulu
"""

CODES: dict[str, str] = {
    name.strip().lower(): code
    for code, _, names in (entry.strip().partition(" ") for entry in _NAMES.replace("\n", " ").split(";"))
    for name in (code, *names.split(","))
}
"""The code of each language by code and English names, all in lower case."""

_OTHER_CODES = {
    "iw": "he",
    "in": "id",
    "ji": "yi",
    "mo": "ro",
    "sh": "sr",
    "cmn": "zh",
    "yue": "zh",
    "wuu": "zh",
    "arz": "ar",
    "ary": "ar",
    "uzs": "uz",
    "kik": "ki",
    "gug": "gn",
}
"""Withdrawn codes, and codes of varieties, of languages of ISO 639-1."""

_LONGEST_TAG = 35
"""Characters that RFC 5646 (4.4.1) has room for."""
_GROUPS = {"no": frozenset({"no", "nb", "nn"}), "nb": frozenset({"nb", "no"})}
"""Norwegian stands for both of its written forms; pages declared as Norwegian are mostly Bokmål."""


def is_language(tag: str) -> bool:
    """Return whether a text may be the tag of a language (`de-AT`, `en_GB`, `zh-Hant`), or its name in one word."""
    return 2 <= len(tag) <= _LONGEST_TAG and tag.replace("-", "").replace("_", "").isalnum()


def language_code(tag: str) -> str:
    """Return the language code of a tag (`en-GB`, `de_AT`); empty if it names no language."""
    primary = tag.strip().lower().replace("_", "-").partition("-")[0]
    if primary in ("", "und", "zxx", "mul", "mis"):
        return ""
    return _OTHER_CODES.get(primary, primary)


def same_language(code: str, other: str) -> bool:
    """Return whether two codes may stand for the same language: Norwegian includes its written forms."""
    return code == other or code in _GROUPS.get(other, ()) or other in _GROUPS.get(code, ())


def languages_meant(name: str) -> frozenset[str] | None:
    """Return the codes for a code or English name (case-insensitive); None for an unknown one."""
    word = " ".join(name.lower().split())
    if word == UNKNOWN:
        return frozenset({UNKNOWN})
    code = CODES.get(_OTHER_CODES.get(word, word))
    return None if code is None else _GROUPS.get(code, frozenset({code}))
