"""Headers in a listing: whether a mail belongs to a list, and what names it."""

from __future__ import annotations

import pytest

from ultracrawl.agents.mail.headers import message_id_hash, read_header

DEV = frozenset({"dev@example.com"})


ADDRESSES: list[tuple[bytes, bool]] = [
    (b"To: dev@example.com", True),
    (b"Cc: Dev <DEV@example.COM>", True),
    (b"To: a@example.com\nTo: dev@example.com", True),
    (b"To: undisclosed: dev@example.com;", True),
    (b"To: =?utf-8?q?Dev_=3Cdev=40example=2Ecom=3E?=", True),
    (b"To: dev@example.com; b@example.com", True),
    (b"To: \xff\xfe <dev@example.com>", True),
    (b"To: web-dev@example.com", False),
    (b"To: dev@example.com.org", False),
    (b'To: "dev@example.com" <other@example.com>', False),
    (b"Subject: dev@example.com", False),
    (b"To: =?utf-8?b?abcde?=", False),
    (b"To: =?utf-8?b?RGV2IDxkZXZAZXhhbXBsZS5jb20+I?=", True),
    (b"To: =?x-none?q?Dev_=3Cdev=40example=2Ecom=3E?=", True),
    (b"To: =?utf-8?b?abcde?=, dev@example.com", True),
    (b"", False),
]


def test_whole_addresses_in_to_and_cc_count(subtests: pytest.Subtests) -> None:
    for header, belongs in ADDRESSES:
        with subtests.test(header=header, belongs=belongs):
            assert read_header(header + b"\n\n", 1, DEV).belongs == belongs
            assert read_header(header + b"\n\n", 1, frozenset()).belongs


def test_a_message_id_names_a_mail_and_else_its_header_and_size() -> None:
    first = read_header(b"Message-ID: <a@x>\nTo: a\n\n", 1, DEV)
    assert first.name == read_header(b"Message-ID:\n <a@x>\nTo: b\n\n", 2, DEV).name
    assert first.name != read_header(b"Message-ID: <b@x>\nTo: a\n\n", 1, DEV).name
    nameless = read_header(b"Subject: a\n\n", 1, DEV).name
    assert nameless == read_header(b"Subject: a\n\n", 1, DEV).name
    assert (
        len(
            {
                nameless,
                *(read_header(*one, DEV).name for one in ((b"Subject: b\n\n", 1), (b"Subject: a\n\n", 2))),
            }
        )
        == 3
    )


@pytest.mark.parametrize(
    ("written", "kept"),
    [(b"<a@x>", "a@x"), (b"a@x", "a@x"), (b"<a b/\xff@x>", "a%20b"), (b"", ""), (b"(c) < a@x >", "a@x")],
)
def test_a_message_id_fits_into_urls_and_lines(written: bytes, kept: str) -> None:
    found = read_header(b"Message-ID: " + written + b"\n\n", 1, DEV).message_id
    assert not {" ", "/"} & set(found)
    assert found.isascii()
    assert found.lstrip("<%3C").startswith(kept[:3])


# The example of the Mailman project.
def test_the_hash_is_that_of_mailman() -> None:
    assert message_id_hash("87myycy5eh.fsf@uwakimon.sk.tsukuba.ac.jp") == "JJIGKPKB6CVDX6B2CUG4IHAJRIQIOUTP"
