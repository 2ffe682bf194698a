"""What servers answer to SEARCH and FETCH, in the forms that the grammar of RFC 3501 allows."""

from __future__ import annotations

from typing import Any

import pytest

from ultracrawl.agents.mail.folder_names import encode_folder
from ultracrawl.agents.mail.responses import FetchedMail, parse_fetched, parse_uids, to_uid_set


@pytest.mark.parametrize(
    "data",
    [
        [(b"1 (UID 7 RFC822.SIZE 90 BODY[] {3}", b"abc"), b")"],
        [(b"1 (BODY[] {3}", b"abc"), b" RFC822.SIZE 90 UID 7)"],
        [b'1 (UID 7 BODY[HEADER.FIELDS ("TO")] "abc" RFC822.SIZE 90)'],
        [
            b"2 (FLAGS (\\Seen))",
            (b"1 (UID 7 RFC822.SIZE 90 BODY[]<0> {3}", b"abc"),
            b")",
            b"3 (UID 8 FLAGS ())",
        ],
    ],
)
def test_a_mail_is_read_in_every_order_and_form(data: Any) -> None:
    assert list(parse_fetched(data)) == [FetchedMail(7, 90, 0.0, b"abc")]


def test_several_mails_of_one_response_are_separated() -> None:
    data: Any = [
        (b"1 (UID 7 BODY[] {1}", b"a"),
        b")",
        (b"2 (UID 9 BODY[] {2}", b"1 ("),
        b")",
        b"3 (UID 11 BODY[] NIL)",
    ]
    assert [(one.uid, one.body) for one in parse_fetched(data)] == [(7, b"a"), (9, b"1 ("), (11, b"")]
    assert list(parse_fetched([None])) == []


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (b'" 2-Mar-2026 10:00:00 +0000"', 1772445600),
        (b'"02-Mar-2026 11:00:00 +0100"', 1772445600),
        (b'"soon"', 0),
    ],
)
def test_the_time_of_reception_is_read(written: bytes, seconds: float) -> None:
    (found,) = parse_fetched([(b"1 (UID 7 INTERNALDATE " + written + b" BODY[] {0}", b""), b")"])
    assert found.received == seconds


@pytest.mark.parametrize(
    ("uids", "text"), [([1, 2, 3], "1:3"), ([5], "5"), ([9, 1, 2, 4], "1:2,4,9"), ([3, 3], "3")]
)
def test_sequence_sets_have_ranges(uids: list[int], text: str) -> None:
    assert to_uid_set(uids) == text


def test_uids_of_a_search_may_be_none() -> None:
    assert parse_uids([b"1 5 9", b""]) == [1, 5, 9]
    assert parse_uids([None]) == []


# The first two are examples of RFC 3501, 5.1.3.
@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
        ("Hi Mom -☺-!", "Hi Mom -&Jjo--!"),
        ("A & B", "A &- B"),
        ("INBOX", "INBOX"),
    ],
)
def test_names_of_folders_are_modified_utf_7(name: str, encoded: str) -> None:
    assert encode_folder(name) == encoded
