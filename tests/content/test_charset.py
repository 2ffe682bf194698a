"""Which encoding a body has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.charset.decoding import decode, find_charset
from ultracrawl.content.charset.encodings import codec_of

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5


@pytest.mark.parametrize(
    ("label", "codec"),
    [
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
    ],
)
def test_charset_label(label: str, codec: str) -> None:
    assert codec_of(label) == codec


@pytest.mark.parametrize(
    ("body", "content_type", "default", "codec"),
    [
        pytest.param(b"\xef\xbb\xbfabc", "text/html; charset=koi8-r", "", "utf-8", id="mark-before-header"),
        pytest.param(
            b"<meta charset=koi8-r>",
            'text/html; Charset="windows-1251"',
            "",
            "cp1251",
            id="header-before-meta",
        ),
        pytest.param(
            b"<meta charset=koi8-r>", "text/html; charset=bogus", "", "koi8-r", id="unknown-header-is-none"
        ),
        pytest.param(b"<meta charset=utf-16>", "", "", "utf-8", id="meta-utf-16-means-utf-8"),
        pytest.param(
            b'<meta content="text/html; charset=koi8-r" http-equiv=Content-Type>',
            "",
            "",
            "koi8-r",
            id="meta-pragma",
        ),
        pytest.param(
            b'<meta content="text/html; charset=koi8-r">', "", "", "utf-8", id="content-without-pragma"
        ),
        pytest.param(b"<!-- <meta charset=koi8-r> -->", "", "", "utf-8", id="meta-in-comment"),
        pytest.param(b"<p title='<meta charset=koi8-r>'>", "", "", "utf-8", id="meta-in-attribute"),
        pytest.param(b"<?xml version='1.0' encoding='koi8-r'?><p>", "", "", "koi8-r", id="xml-declaration"),
        pytest.param("Grüße".encode(), "", "koi8-r", "utf-8", id="valid-utf-8-before-default"),
        pytest.param(b"Gr\xfc\xdfe", "", "iso-8859-2", "iso8859-2", id="default-for-few-bytes"),
        pytest.param(b"Gr\xfc\xdfe", "", "", "cp1252", id="fallback"),
        pytest.param(RUSSIAN.encode("cp1251"), "", "", "cp1251", id="detected"),
        pytest.param("<p>x".encode("utf-16-le"), "", "", "utf-16-le", id="utf-16-without-mark"),
    ],
)
def test_charset_order(body: bytes, content_type: str, default: str, codec: str) -> None:
    assert find_charset(body, content_type, default) == codec


@pytest.mark.parametrize(
    ("body", "content_type", "text", "codec"),
    [
        pytest.param(
            "Grüße".encode(), "text/html; charset=iso-8859-1", "Grüße", "utf-8", id="utf-8-called-latin"
        ),
        pytest.param(b"Gr\xfc\xdfe", "text/html; charset=utf-8", "Grüße", "cp1252", id="latin-called-utf-8"),
        pytest.param(
            RUSSIAN.encode("koi8-r"), "text/html; charset=utf-8", RUSSIAN, "koi8-r", id="koi8-called-utf-8"
        ),
        pytest.param(
            "Grüße ".encode() + b"\x93x\x94",
            "text/html; charset=utf-8",
            "Grüße “x”",
            "utf-8",
            id="mixed-even",
        ),
        pytest.param("é".encode() * 9 + b"\xfc", "", "éééééééééü", "utf-8", id="mixed-undeclared"),
        pytest.param("éé".encode() + b"\xc3", "", "éé\ufffd", "utf-8", id="cut-off"),
        pytest.param(
            "日本".encode("cp932"), "text/html; charset=shift_jis", "日本", "cp932", id="wide-is-kept"
        ),
        pytest.param(b"abc", "text/html; charset=iso-8859-2", "abc", "iso8859-2", id="ascii-is-kept"),
    ],
)
def test_wrong_and_mixed_charsets(body: bytes, content_type: str, text: str, codec: str) -> None:
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
