"""Which encoding a body has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.charset.decoding import decode, find_charset
from ultracrawl.content.charset.encodings import codec_of

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5


LABELS = [
    ("ISO-8859-1", "cp1252"),
    (" Latin1 ", "cp1252"),
    ("us-ascii", "cp1252"),
    ("iso8859-9", "cp1254"),
    ("gb2312", "gb18030"),
    ("Shift_JIS", "cp932"),
    ("x-sjis", "cp932"),
    ("euc-kr", "cp949"),
    ("x-cp1251", "cp1251"),
    ("unicode-1-1-utf-8", "utf-8"),
    ("utf-16", "utf-16-le"),
    ("x-user-defined", "cp1252"),
    ("utf-7", ""),
    ("hex", ""),
    ("rot13", ""),
    ("unicode_escape", ""),
    ("idna", ""),
    ("utf-32", ""),
    ('utf-8"', ""),
    ("no-such", ""),
    ("", ""),
    ("a\0b", ""),
    ("../../x", ""),
]


def test_charset_label(subtests: pytest.Subtests) -> None:
    for label, codec in LABELS:
        with subtests.test(label):
            assert codec_of(label) == codec


ORDERS: dict[str, tuple[bytes, str, str, str]] = {
    "mark-before-header": (b"\xef\xbb\xbfabc", "text/html; charset=koi8-r", "", "utf-8"),
    "header-before-meta": (b"<meta charset=koi8-r>", 'text/html; Charset="windows-1251"', "", "cp1251"),
    "unknown-header-is-none": (b"<meta charset=koi8-r>", "text/html; charset=bogus", "", "koi8-r"),
    "meta-utf-16-means-utf-8": (b"<meta charset=utf-16>", "", "", "utf-8"),
    "meta-pragma": (b'<meta content="text/html; charset=koi8-r" http-equiv=Content-Type>', "", "", "koi8-r"),
    "content-without-pragma": (b'<meta content="text/html; charset=koi8-r">', "", "", "utf-8"),
    "meta-in-comment": (b"<!-- <meta charset=koi8-r> -->", "", "", "utf-8"),
    "meta-in-attribute": (b"<p title='<meta charset=koi8-r>'>", "", "", "utf-8"),
    "xml-declaration": (b"<?xml version='1.0' encoding='koi8-r'?><p>", "", "", "koi8-r"),
    "valid-utf-8-before-default": ("Grüße".encode(), "", "koi8-r", "utf-8"),
    "default-for-few-bytes": (b"Gr\xfc\xdfe", "", "iso-8859-2", "iso8859-2"),
    "fallback": (b"Gr\xfc\xdfe", "", "", "cp1252"),
    "detected": (RUSSIAN.encode("cp1251"), "", "", "cp1251"),
    "utf-16-without-mark": ("<p>x".encode("utf-16-le"), "", "", "utf-16-le"),
}


def test_charset_order(subtests: pytest.Subtests) -> None:
    for name, (body, content_type, default, codec) in ORDERS.items():
        with subtests.test(name):
            assert find_charset(body, content_type, default) == codec


WRONG_AND_MIXED: dict[str, tuple[bytes, str, str, str]] = {
    "utf-8-called-latin": ("Grüße".encode(), "text/html; charset=iso-8859-1", "Grüße", "utf-8"),
    "latin-called-utf-8": (b"Gr\xfc\xdfe", "text/html; charset=utf-8", "Grüße", "cp1252"),
    "koi8-called-utf-8": (RUSSIAN.encode("koi8-r"), "text/html; charset=utf-8", RUSSIAN, "koi8-r"),
    "mixed-even": ("Grüße ".encode() + b"\x93x\x94", "text/html; charset=utf-8", "Grüße “x”", "utf-8"),
    "mixed-undeclared": ("é".encode() * 9 + b"\xfc", "", "éééééééééü", "utf-8"),
    "cut-off": ("éé".encode() + b"\xc3", "", "éé\ufffd", "utf-8"),
    "wide-is-kept": ("日本".encode("cp932"), "text/html; charset=shift_jis", "日本", "cp932"),
    "ascii-is-kept": (b"abc", "text/html; charset=iso-8859-2", "abc", "iso8859-2"),
}


def test_wrong_and_mixed_charsets(subtests: pytest.Subtests) -> None:
    for name, (body, content_type, text, codec) in WRONG_AND_MIXED.items():
        with subtests.test(name):
            assert decode(body, content_type) == (text, codec)


def test_charset_detection_looks_at_a_sample_only() -> None:
    assert find_charset(b" " * 3_000_000 + RUSSIAN.encode("koi8-r") * 1000) == "koi8-r"


@given(st.binary(max_size=400), st.text(max_size=40), st.text(max_size=10))
def test_charset_decode_never_raises(body: bytes, content_type: str, default: str) -> None:
    text, codec = decode(body, content_type, default)
    assert codec_of(codec) == codec
    text.encode("utf-8")


@given(
    st.lists(
        st.sampled_from(["<meta", " charset", "=", '"', "'", "utf-8", ">", "<!--", "-->", " ", "/", "<p "])
    )
)
def test_charset_prescan_never_raises(pieces: list[str]) -> None:
    find_charset("".join(pieces).encode())
