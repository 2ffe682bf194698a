"""Word and PowerPoint documents of before 2007: what stands beside the text of the body and of the slides."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import pytest
from support import files
from support.compound import compound, old_presentation, old_word, record

from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]

WORD = "application/msword"
EMBEDDED = compound({"CONTENTS": files.pdf(["of a pdf"])})


def test_what_stands_beside_the_body_of_word(converted: Convert) -> None:
    beside = {
        1: "\x02 A footnote.\r",
        2: "\r\rHead of all\rPage \x13 PAGE \x141\x15\rHead of all\r",
        4: "\x05A cömment\r",
        6: "In\x1ea box Привет\r",
    }
    body = old_word("The needle.\r", beside, {"_1": {"CONTENTS": files.pdf(["of a pdf"])}})
    found = converted(body, WORD)
    assert found.text == "The needle. A footnote. Head of all Page 1 A cömment In-a box Привет of a pdf"
    assert found.truncated == ""


@pytest.mark.parametrize("place", [0x02, 0x0A, 0x50, 0x68, 0x1A2, 0x1A6])
def test_a_broken_table_costs_what_it_tells_of(converted: Convert, place: int) -> None:
    body = old_word("The needle.\r", {1: "A footnote.\r"})
    at = body.index(struct.pack("<HH", 0xA5EC, 0x00C1)) + place
    broken = body[:at] + b"\xff\xff" + body[at + 2 :]
    try:
        text = converted(broken, WORD).text
    except ValueError:  # of a body that nobody can read
        return
    assert text.startswith("The needle.") or not text


def text(words: str, kind: int = 4) -> bytes:
    return record(0, 0x0F9F, struct.pack("<I", kind)) + record(0, 0x0FA0, words.encode("utf-16-le"))


def string(words: str, instance: int) -> bytes:
    return record(instance << 4, 0x0FBA, words.encode("utf-16-le"))


def test_what_stands_beside_slides(converted: Convert) -> None:
    packed = struct.pack("<I", len(EMBEDDED)) + zlib.compress(EMBEDDED)
    master = text("Click to edit", 0) + text("Corporate") + text("*") + record(0, 0x0FA8, b"in b\xe4tes")
    more = record(0xF, 0x03F8, record(0xF, 0x040C, master))
    more += record(0xF, 0x03F8, record(0xF, 0x040C, text("Corporate")))
    more += record(0xF, 0x0FD9, string("A header", 1) + string("A footer", 2)) + string("no", 1)
    more += record(0xF, 0x2EE0, string("Ann", 0) + string("A comment", 1) + string("A", 2))
    more += record(0x10, 0x1011, packed) * 2 + record(0x10, 0x1011, b"\1\0\0\0broken")
    found = converted(old_presentation("first", "second", more=more))
    assert found.text == "first second Corporate in bätes A header A footer A comment of a pdf"
    assert found.truncated != ""


def test_an_object_that_unfolds_too_far_costs_no_text(converted: Convert) -> None:
    bomb = bytes(4) + zlib.compress(bytes(5_000_000))
    more = record(0xF, 0x0FD9, string("A header", 1)) + record(0x10, 0x1011, bomb)
    found = converted(old_presentation("first", more=more), unpacked=1_000_000)
    assert found.text == "first A header"
    assert found.truncated != ""
