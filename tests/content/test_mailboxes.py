"""Where the messages of mailboxes are, wherever the pieces end in which they are read."""

from __future__ import annotations

import random

import pytest

from ultracrawl.content import mailboxes
from ultracrawl.content.mailboxes import message_spans

FROM = b"From a@x Mon Mar  2 10:00:00 2026\n"


def split(body: bytes) -> list[bytes]:
    return [body[begun:end] for begun, end in message_spans(lambda at, size: body[at : at + size])]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_message_begins_behind_a_blank_line_and_the_word_from(end: bytes) -> None:
    lines = [
        b"From a@x Mon",
        b"A: 1",
        b"",
        b"one",
        b"From c@x Mon Mar  2 10:00:00 2026",
        b"",
        b"From b@x Mon Mar  2 10:00:00 2026",
        b"B: 2",
        b"",
        b"two",
        b"",
    ]
    assert split(end.join(lines)) == [
        end.join([b"A: 1", b"", b"one", b"From c@x Mon Mar  2 10:00:00 2026", b"", b""]),
        end.join([b"B: 2", b"", b"two", b""]),
    ]


SEPARATORS: list[bytes] = [
    b"From jane@example.org Tue Nov 29 14:47:15 2016",
    b"From - Tue Nov 29 14:47:15 2016",
    b"From MAILER-DAEMON Fri Nov 25 16: 18:08 2016",
    b"From jane@example.org Tue Nov 29 14:47:15 +0100 2016",
    b"From jane@example.org Tue Nov 29 14:47 MET DST 2016",
    b"From jane doe Tue, 29 Nov 2016 14:47:15 +0100 (CET)",
    b"From host!jane Tue Nov 29 14:47:15 2016 remote from host",
    b"From jane@example.org 2016-11-29T14:47:15.5+01:00",
    b"From Tue Nov 29 14:47:15 2016",
    b"From " + b"x" * 900 + b" Tue Nov 29 14:47:15 2016",
    b"From \nReceived: from there",
    b"From jane\nX-Mozilla-Status: 0001",
    b"From jane\nSubject : blank",
]


def test_separators(subtests: pytest.Subtests) -> None:
    for line in SEPARATORS:
        with subtests.test(line=line):
            body = FROM + b"A: 1\n\none\n\n" + line + b"\nTo: x\n\ntwo\n"
            assert len(split(body)) == 2
            assert len(split(body.replace(b"\n", b"\r\n"))) == 2


NO_SEPARATORS: list[bytes] = [
    b"From now on we meet at noon",
    b"From bob@example.org we heard nothing",
    b"From my notes:\nNote: buy milk",
    b"From Monday, November 28 2016 at 14:30 we meet",
    b"From Nov 29 2016, 14:30 we meet",
    b"From 2015 to 2016",
    b"From \n",
    b">From jane@example.org Tue Nov 29 14:47:15 2016",
    b"from jane@example.org Tue Nov 29 14:47:15 2016",
]


def test_lines_of_texts_are_no_separators(subtests: pytest.Subtests) -> None:
    for line in NO_SEPARATORS:
        with subtests.test(line=line):
            body = FROM + b"A: 1\n\none\n\n" + line + b"\ntwo\n"
            assert len(split(body)) == 1
            assert len(split(body.replace(b"\n", b"\r\n"))) == 1


TEXT = b"one\n\n" + FROM + b"To: x\n\ntwo\n"


@pytest.mark.parametrize(
    ("length", "messages"),
    [(len(TEXT), 2), (len(TEXT) - 1, 2), (len(TEXT) + 7, 3), (3, 3), (10**11, 3), (0, 3)],
    ids=["right", "without the last line end", "wrong", "too short", "hostile", "none"],
)
@pytest.mark.parametrize("last", [b"", b"\n" + FROM + b"To: y\n\nthree\n"], ids=["last", "first"])
def test_a_length_that_is_right_says_where_a_message_ends(length: int, messages: int, last: bytes) -> None:
    body = FROM + b"Content-Length: %d\n\n" % length + TEXT + last
    assert len(split(body)) == messages - (not last)


@pytest.mark.parametrize("body", [b"", b"A: 1\n\nwords\n", b"From a@x without an end"])
def test_what_is_no_mailbox_has_no_messages(body: bytes) -> None:
    assert split(body) == []


def test_pieces_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(2026)
    words = [FROM, b"From ", b"\n", b"\r\n", b"words\n", b"To: 1\n", b"x" * 700, b"Content-Length: 710\n"]
    for _ in range(200):
        body = b"From a\n" + b"".join(chance.choices(words, k=40))
        monkeypatch.setattr(mailboxes, "_CHUNK", 1 << 20)
        whole = split(body)
        monkeypatch.setattr(mailboxes, "_CHUNK", chance.randrange(2_300, 4_000))
        assert split(body) == whole
