"""Base64, uuencode and encoded words that are damaged: what is whole is read."""

from __future__ import annotations

from base64 import b64encode, encodebytes
from binascii import b2a_uu

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.messages import (
    decode_base64,
    decode_uuencoded,
    header_of,
    parts_of,
    read_message,
    readable_words,
)

TEXT = b"".join(b"line %02d of a text that is encoded\n" % number for number in range(20))


def uuencoded(data: bytes) -> bytes:
    lines = [b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45)]
    return b"begin 644 a.txt\n" + b"".join(lines) + b"`\nend\n"


@given(st.binary(max_size=500))
def test_what_is_whole_is_decoded_as_it_is(data: bytes) -> None:
    assert decode_base64(encodebytes(data)) == data
    assert decode_base64(b64encode(data).rstrip(b"=")) == data
    assert decode_uuencoded(uuencoded(data)) == data


@given(st.binary(max_size=300))
def test_decoders_never_raise(data: bytes) -> None:
    decode_base64(data)
    decode_uuencoded(b"begin 644 x\n" + data)
    readable_words(f"=?{data.decode('latin-1')}?b?{data.decode('latin-1')}?=")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"YmFkYjY0d29yZCBoZWxsb!!!", b"badb64word hell"),
        (b"YmFk!!!0d29yZCBoZWxsbw==", b"badword hello"),
        (b"YmFkYjY0d29yZ", b"badb64wor"),
        (b"YmFkYjY0\x00d29yZA==", b"badb64word"),
        (b"YmFk\n# and a remark\nYjY0", b"badb64"),
        (b"YmFkYg==\n_____\nA-list mailing list", b"badb"),
        (b"=", b""),
        (b"!", b""),
        (b"", b""),
    ],
)
def test_damaged_base64_is_decoded_as_far_as_it_is_whole(written: bytes, read: bytes) -> None:
    assert decode_base64(written) == read


def test_a_damaged_line_costs_no_other_line() -> None:
    lines = encodebytes(TEXT).splitlines()
    lines[2] = lines[2][:10] + b"\xff\xfe*" + lines[2][13:]
    found = decode_base64(b"\r\n".join(lines))
    assert (found[:114], found[171:]) == (TEXT[:114], TEXT[171 + (len(TEXT) - len(found)) :])
    assert 0 < len(TEXT) - len(found) <= 6


def test_damaged_lines_of_uuencode_are_left_out_and_an_end_may_be_missing() -> None:
    lines = uuencoded(TEXT).splitlines(keepends=True)
    assert decode_uuencoded(b"".join(lines[:-1])) == TEXT
    assert decode_uuencoded(b"".join([*lines[:3], b"\xff\xff\n", *lines[4:]])) == TEXT[:90] + TEXT[135:]
    assert decode_uuencoded(b"no uuencode") == b""


@pytest.mark.parametrize("encoding", ["base64", "BASE64 ", "x-uuencode", "quoted-printable"])
@pytest.mark.parametrize("charset", ["utf-8", "undefined", "idna", "hex", "no such", "utf-7", ""])
def test_a_part_is_read_in_whatever_charset_it_says_it_is(encoding: str, charset: str) -> None:
    bodies = {"base64": b"Z3LDvG4gYWJj!!!\xff", "x-uuencode": uuencoded("grün abc".encode())}
    body = bodies.get(encoding.strip().lower(), "gr=C3=BCn abc=ZZ\xff".encode("latin-1"))
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    (part,) = parts_of(read_message(head.encode() + body))
    assert "grün abc" in part.text


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("=?utf-8?b?R3LDvMOfZQ==?=", "Grüße"),
        ("=?utf-8?B?R3LDvMOfZ?= all", "Grüß all"),
        ("=?utf-8?b?R3LDvMOfZQ=!?=", "Grüß"),
        ("=?x-none?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?undefined?q?Gr=FC=DFe?=", "Grüße"),
        ("=?iso-8859-1*de?q?Gr=FC=DFe_=ZZ?=", "Grüße =ZZ"),
        ("=?gb2312?b?xOO6w4+A?=", "你好弨"),
        ("=?utf-8?q?one?=\n =?utf-8?q?_two?=", "one two"),
    ],
)
def test_words_of_headers_are_read_as_far_as_they_are_whole(header: str, read: str) -> None:
    assert header_of(read_message(f"Subject: {header}\n\nx".encode()), "Subject") == read
