"""Undeclared texts in encodings that look alike are told apart by what only one of them has in words."""

from itertools import product

import pytest

from ultracrawl.content.charset.decoding import decode, find_charset
from ultracrawl.content.mime import effective_type

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. Моя семья знает, что я люблю её."
ARABIC = "السلام عليكم، اللغة العربية من أكثر اللغات انتشارا في العالم"
VIETNAMESE = (
    "Tiê\u0301ng Viê\u0323t la\u0300 ngôn ngư\u0303 cu\u0309a ngươ\u0300i Viê\u0323t, va\u0300 la\u0300 "
    "tiê\u0301ng me\u0323 đe\u0309 cu\u0309a phâ\u0300n lơ\u0301n dân cư."
)
"""Tones are marks of their own in this encoding."""
TEXTS = {
    "mac-cyrillic": RUSSIAN,
    "iso8859-6": ARABIC,
    "iso8859-7": "Άλλοι άνθρωποι μένουν στην πόλη, και η Άννα στο χωριό.",
    "iso8859-15": "Les sœurs ont le cœur à l'œuvre, été comme hiver, où qu'elles aient été élevées: 10 €.",
    "iso8859-3": "Eĥoŝanĝo ĉiuĵaŭde: ĝi estas ŝatata ĉe ni, kaj ankaŭ ĉiu alia povas ĝin aŭdi.",
    "cp1258": VIETNAMESE,
    "iso2022_jp": "日本語の文章です。とても短いです。",
}


@pytest.mark.parametrize("codec", TEXTS)
def test_a_text_is_read_in_its_own_encoding(codec: str) -> None:
    text = TEXTS[codec]
    assert decode(text.encode(codec)) == (text, codec)
    assert decode(f"<p>{text}</p>".encode(codec))[0] == f"<p>{text}</p>"


OTHERS = {
    "Windows": (RUSSIAN, "cp1251"),
    "Windows, capitals": (RUSSIAN.upper(), "cp1251"),
    "Unix": (RUSSIAN, "koi8-r"),
    "Unix, capitals": (RUSSIAN.upper(), "koi8-r"),
    "ISO": (RUSSIAN, "iso8859-5"),
    "Greek": ("Η αΰπνια και οι νίκες, που είναι της μοίρας και της ζωής σημεία.", "cp1253"),
    "Arabic": (ARABIC.replace("،", ""), "cp1256"),
    "Thai": ("ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน", "cp874"),
    "fractions": ("2½ cups, 3¼ in · é è à ù â ê î ô û ç", "cp1252"),
    "accents alone": ("l´été à l´accent ç, ¨ et ¸ é è, « où » ½ ¼ ¦ ¤ §", "cp1252"),
    "letters of Windows": ("cœur, sœur, œuvre; l’été – déjà à 10 €", "cp1252"),
}


def test_other_texts_keep_theirs(subtests: pytest.Subtests) -> None:
    for name, (text, codec) in OTHERS.items():
        with subtests.test(name):
            assert find_charset(text.encode(codec)) == codec


UNMARKED = ["Date, Time, Bid\r\n1, 2, 3\r\n", RUSSIAN, ARABIC, "<p>日本語の文章です。</p>\n<p>短い。</p>"]


def test_utf_16_without_a_mark(subtests: pytest.Subtests) -> None:
    for codec, text in product(["utf-16-le", "utf-16-be"], UNMARKED):
        with subtests.test(f"{codec}, {text}"):
            body = text.encode(codec)
            assert decode(body) == (text, codec)
            assert effective_type("text/plain", body) == "text/plain"
            assert effective_type("text/plain; charset=utf-16", body) == "text/plain"
            assert effective_type("text/plain", b"\xff\xfe" + text.encode("utf-16-le")) == "text/plain"


def test_what_is_said_to_be_utf_16_is_known_by_its_signature() -> None:
    pdf = b"%PDF-1.4\n" + bytes(range(256)) * 4
    assert effective_type("text/html; charset=utf-16", pdf) == "application/pdf"
    assert effective_type("text/html; charset=utf-16", b"<p>ASCII</p>") == "text/html"
    assert find_charset("<p>".encode("utf-16-le")) == "utf-16-le", "short, but markup"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"one\0two\0three\0four\0five\0six\0", id="strings of C"),
        pytest.param(b"text" + bytes(100), id="filled up"),
        pytest.param(b"a\0b\0", id="too short"),
        pytest.param(b"\0\xd8" * 200 + b"a\0" * 100, id="no characters"),
        pytest.param("é".encode() * 300 + b"\0", id="one zero"),
    ],
)
def test_zero_bytes_alone_are_no_utf_16(body: bytes) -> None:
    assert not find_charset(body).startswith("utf-16")


@pytest.mark.parametrize(
    "body", [b"\x1b[1mbold\x1b[0m of a terminal", b"\x1b$Bone byte\x1b", b"\x1b$)C Korean"]
)
def test_other_escapes_are_no_japanese(body: bytes) -> None:
    assert find_charset(body) == "utf-8"
