"""Messages: decoded headers, parts in order, and how much of a hostile one is parsed."""

from __future__ import annotations

import pytest

from ultracrawl.content.messages import beginning_of, header_of, parts_of, read_message

MIXED = b"""\
From: =?utf-8?q?J=C3=B6rg?= <joerg@example.com>
Subject: words
Content-Type: multipart/mixed; boundary=a

--a
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=latin-1

gr\xfcn
--b
Content-Type: text/html

<p>gr&uuml;n</p>
--b--
--a
Content-Type: application/pdf
Content-Disposition: attachment; filename="=?utf-8?q?=C3=BCber.pdf?="

%PDF
--a--
"""


def test_the_parts_of_a_message_are_texts_the_richest_alternative_first_and_attachments() -> None:
    page, plain, attachment = parts_of(read_message(MIXED))
    assert (page.is_html, page.is_attachment, page.choice) == (True, False, 1)
    assert (plain.text.strip(), plain.is_attachment, plain.choice) == ("grün", False, 1)
    assert (attachment.name, attachment.is_attachment, attachment.choice) == ("über.pdf", True, 0)
    assert attachment.body == b"%PDF"


def test_headers_are_decoded_also_if_they_are_no_headers() -> None:
    assert header_of(read_message(MIXED), "from") == "Jörg <joerg@example.com>"
    assert header_of(read_message("Subject: grün".encode("latin-1")), "Subject") == "grün"
    assert header_of(read_message(b"no message"), "Subject") == ""


@pytest.mark.parametrize(
    "hostile",
    [
        b"Subject: x\n\n" + b"\n" * 400_000,
        b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 50_000,
        b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (one, one) for one in range(2_000)
        ),
    ],
    ids=["lines", "parts", "levels"],
)
def test_a_message_that_is_slow_to_parse_is_cut(hostile: bytes) -> None:
    beginning = beginning_of(hostile, 20 << 20)
    assert 0 < len(beginning) < len(hostile)
    assert hostile.startswith(beginning)
    assert sum(1 for _ in parts_of(read_message(beginning))) <= 20_000


def test_other_messages_are_parsed_to_their_end() -> None:
    assert beginning_of(MIXED, 20 << 20) == MIXED
    assert beginning_of(MIXED, 100) == MIXED[:100]
