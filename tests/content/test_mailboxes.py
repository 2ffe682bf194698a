"""Where the messages of mailboxes are, wherever the pieces end in which they are read."""

from __future__ import annotations

import io
import random

import pytest

from ultracrawl.content import mailboxes
from ultracrawl.content.mailboxes import message_spans


def split(body: bytes) -> list[bytes]:
    return [body[begun:end] for begun, end in message_spans(io.BytesIO(body).read)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_message_begins_behind_a_blank_line_and_the_word_from(end: bytes) -> None:
    lines = [
        b"From a@x Mon",
        b"A: 1",
        b"",
        b"one",
        b"From here on",
        b"",
        b"From b@x Tue",
        b"B: 2",
        b"",
        b"two",
        b"",
    ]
    assert split(end.join(lines)) == [
        end.join([b"A: 1", b"", b"one", b"From here on", b"", b""]),
        end.join([b"B: 2", b"", b"two", b""]),
    ]


@pytest.mark.parametrize("body", [b"", b"A: 1\n\nwords\n", b"From a@x without an end"])
def test_what_is_no_mailbox_has_no_messages(body: bytes) -> None:
    assert split(body) == []


def test_pieces_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(2026)
    words = [b"From a@x Mon\n", b"From ", b"\n", b"\r\n", b"words\n", b"A: 1\n", b"x" * 700]
    for _ in range(200):
        body = b"From a\n" + b"".join(chance.choices(words, k=40))
        monkeypatch.setattr(mailboxes, "_CHUNK", 1 << 20)
        whole = split(body)
        monkeypatch.setattr(mailboxes, "_CHUNK", chance.randrange(1, 50))
        assert split(body) == whole
