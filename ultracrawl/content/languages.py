"""Tags (BCP 47), codes (ISO 639-1) and English names of languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

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
_CODES_OF_TWO = frozenset(CODES.values())

_LONGER_CODES = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bi:bis
bm:bam bn:ben bo:bod:tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces:cze cu:chu cv:chv cy:cym:wel da:dan
de:deu:ger dv:div dz:dzo ee:ewe el:ell:gre en:eng eo:epo es:spa et:est eu:baq:eus fa:fas:per ff:ful fi:fin fj:fij
fo:fao fr:fra:fre fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun
hy:arm:hye hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:ice:isl it:ita iu:iku ja:jpn jv:jav ka:geo:kat
kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug
li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mao:mri mk:mac:mkd ml:mal mn:mon mr:mar ms:may:msa mt:mlt
my:bur:mya na:nau nb:nob nd:nde ne:nep ng:ndo nl:dut:nld nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm
or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron:rum ru:rus rw:kin sa:san sc:srd sd:snd
se:sme sg:sag si:sin sk:slk:slo sl:slv sm:smo sn:sna so:som sq:alb:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa
ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd
uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:chi:zho zu:zul
"""
"""The codes of ISO 639-2 of each language that has one of ISO 639-1."""

_SHORTER = {
    longer: code for code, *more in (entry.split(":") for entry in _LONGER_CODES.split()) for longer in more
}
_WITHDRAWN = {
    "iw": "he",
    "in": "id",
    "ji": "yi",
    "jw": "jv",
    "mo": "ro",
    "sh": "sr",
    "cmn": "zh",
    "arb": "ar",
}
"""Codes for which the registry of BCP 47, or what programs write, has another one."""
_OTHER_CODES = {
    **_WITHDRAWN,
    "yue": "zh",
    "wuu": "zh",
    "arz": "ar",
    "ary": "ar",
    "uzs": "uz",
    "kik": "ki",
    "gug": "gn",
}
"""Withdrawn codes, and codes of varieties, of languages of ISO 639-1."""
_NO_LANGUAGE = frozenset({"und", "zxx", "mul", "mis"})
_OTHER_SUBTAGS = {"chs": "Hans", "cht": "Hant", "uk": "GB"}
"""What programs write for the scripts of Chinese and for the United Kingdom."""

_LONGEST_TAG = 35
"""Characters that RFC 5646 (4.4.1) has room for."""
_GROUPS = {"no": frozenset({"no", "nb", "nn"}), "nb": frozenset({"nb", "no"})}
"""Norwegian stands for both of its written forms; pages declared as Norwegian are mostly Bokmål."""
_SEPARATORS = str.maketrans(";|/", ",,,")
_SUBTAGS = "[a-z0-9]+(?:-[a-z0-9]+)*-?"
_VARIANT = "[a-z0-9]{5,8}|[0-9][a-z0-9]{3}"
"""Only compiled when a document declares a language that was not yet declared."""


@lru_cache(maxsize=512)
def language_tag(declared: str) -> str:
    """Return what a document declares as its language as a tag of BCP 47 (`de-AT`, `zh-Hant`), or an empty string.

    Of several languages the first one counts. Read are tags in any case, also with underscores, names of locales
    (`de_DE.UTF-8`), codes of three letters (`deu`) and English names; what is no language is none.
    """
    first = declared.translate(_SEPARATORS).partition(",")[0].lower()
    if code := CODES.get(" ".join(first.split()).partition(" (")[0]):
        return code
    word = (first.split() or [""])[0].partition(".")[0].partition("@")[0].replace("_", "-")
    if len(word) > _LONGEST_TAG or not re.fullmatch(_SUBTAGS, word):
        return ""
    primary, *subtags = word.rstrip("-").split("-")
    code = CODES.get(primary) or _SHORTER.get(primary) or _WITHDRAWN.get(primary, primary)
    if code in _NO_LANGUAGE or not code.isalpha() or (len(code) != 3 and code not in _CODES_OF_TWO):
        return ""
    return "-".join((code, *_subtags(subtags)))


def _subtags(written: Sequence[str]) -> Iterator[str]:
    """Yield script, region and variants in the case that the standard recommends, up to what is none of them."""
    rank = 0
    for subtag in written:
        known = _OTHER_SUBTAGS.get(subtag, subtag)
        if rank < 1 and re.fullmatch("[a-z]{4}", known, re.IGNORECASE):
            rank, tag = 1, known.title()
        elif rank < 2 and re.fullmatch("[a-z]{2}|[0-9]{3}", known, re.IGNORECASE):
            rank, tag = 2, known.upper()
        elif re.fullmatch(_VARIANT, known):
            rank, tag = 3, known
        else:
            return
        yield tag


def language_code(tag: str) -> str:
    """Return the language code of a tag (`en-GB`, `de_AT`); empty if it names no language."""
    primary = tag.strip().lower().replace("_", "-").partition("-")[0]
    if primary in ("", "und", "zxx", "mul", "mis"):
        return ""
    return _OTHER_CODES.get(primary, primary)


def is_language(tag: str) -> bool:
    """Return whether a tag begins with a code of ISO 639-1, or with three letters: a language beyond it."""
    code = language_code(tag)
    return code in _CODES_OF_TWO or (len(code) == 3 and code.isalpha())


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
