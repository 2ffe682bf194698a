"""Texts in encodings that libraries do not expect: names in archives, halves of characters, names of Windows."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable

import pytest
from support import files

from ultracrawl.content.converters.office import outlook
from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]


def zip_with_names(*names: bytes) -> bytes:
    """Return a zip whose names are in no encoding that it tells."""
    placeholders = {f"{number:03d}".ljust(len(name), "."): name for number, name in enumerate(names)}
    body = files.zipped(dict.fromkeys(placeholders, "needle"))
    for placeholder, name in placeholders.items():
        body = body.replace(placeholder.encode(), name)
    return body


@pytest.mark.parametrize(
    ("names", "codec"),
    [
        (["审计压缩包文件检索测试.txt"], "gbk"),
        (["综合/报告.txt", "综合/数据文件.txt"], "gbk"),
        (["日本語のファイル名です.txt", "もう一つのファイル.txt", "これはテストです.txt"], "cp932"),
        (["über.txt"], "cp437"),
        (["Größe und Maß.txt", "übung.txt"], "cp437"),
        (["été.txt"], "utf-8"),
    ],
)
def test_names_in_archives(converted: Convert, names: list[str], codec: str) -> None:
    found = converted(zip_with_names(*(name.encode(codec) for name in names)))
    assert found.metadata["files"] == names


def test_names_of_codecs_of_windows() -> None:
    assert outlook.__name__  # registers them
    assert codecs.lookup("windows-950").name == "cp950"
    assert codecs.lookup("windows-874").name == "cp874"
    with pytest.raises(LookupError):
        codecs.lookup("windows-99999")


# ---- RTF

SHAPE = r"{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Box {\footnote deep} text\par}}}"


def test_characters_in_two_halves(converted: Convert) -> None:
    text = rb"{\rtf1\ansi \u-10240?\u-8396? and \u-10240? \u55296?\u57136? end}"
    assert converted(text).text == "𐌴 and 𐌰 end"


def test_what_stands_beside_the_text_of_rtf(converted: Convert) -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}"
    head = r"{\header Head \{brace\par}{\footerf Foot}"
    body = (
        rf"{{\rtf1\ansi\ansicpg1252{fonts}{head}wo{{\footnote {{\f1 \'ef\'f0}} note}}rd"
        rf"{{\*\annotation {{\*\atnref x}}a comment}}{SHAPE} end}}"
    )
    found = converted(body.encode())
    assert found.text == "word end Head {brace Foot пр note a comment Box text deep"


@pytest.mark.parametrize("body", [rb"{\footnote x" * 20_000, rb"{\footnote x" * 20_000 + b"}" * 20_001])
def test_notes_inside_notes_take_no_time(converted: Convert, body: bytes) -> None:
    found = converted(rb"{\rtf1 needle " + body, seconds=5)
    assert found.truncated == ""


# ---- messages in messages


@pytest.mark.parametrize("name", ["base64", "Base64"])
def test_a_message_in_base64_inside_a_message(converted: Convert, name: str) -> None:
    inner = b"From: a@x.example\r\nSubject: s\r\nContent-Type: text/html\r\n\r\n<p>inner <b>words</b></p>"
    for _ in range(2):
        head = (
            b'From: a@x.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n'
        )
        part = b"--b\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: %b\r\n\r\n" % name.encode()
        text = b"--b\r\nContent-Type: text/plain\r\n\r\nouter\r\n"
        inner = head + text + part + base64.encodebytes(inner) + b"\r\n--b--\r\n"
    assert converted(inner, "message/rfc822").text == "outer outer inner words"


def test_a_message_in_broken_base64_is_text(converted: Convert) -> None:
    body = (
        b"From: a@x.example\r\nMIME-Version: 1.0\r\nContent-Type: message/rfc822\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\nSubject: not encoded\r\n\r\nneedle words"
    )
    assert "needle" in converted(body, "message/rfc822").text
