"""Of the alternatives of a mail, the richest is read, and of the others what it does not say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.compound import outlook_message

from ultracrawl.model import Conversion

Convert = Callable[..., Conversion]
PLAIN = ("text/plain", "Your program shows no HTML. Sale *today* only: https://x.example/long?a=1")
PAGE = ("text/html", "<p>Sale <b>today</b> only<p>at noon.")
IMAGE = ("text/html", "<img src='https://x.example/a.png'>")
INVITATION = (
    "text/calendar; method=REQUEST",
    "BEGIN:VCALENDAR\r\nUID:hidden\r\nSUMMARY:Sale\r\nLOCATION;X=y:Hall\r\n  seven\\, left\r\nEND:VCALENDAR\r\n",
)


def multipart(kind: str, *parts: tuple[str, str], boundary: str = "b") -> tuple[str, str]:
    """Return Content-Type and content of a part that is made of parts."""
    written = "".join(f"--{boundary}\nContent-Type: {name}\n\n{text}\n" for name, text in parts)
    return f"multipart/{kind}; boundary={boundary}", f"{written}--{boundary}--\n"


def mail(part: tuple[str, str]) -> bytes:
    return f"Subject: s\nContent-Type: {part[0]}\n\n{part[1]}".encode()


CASES = {
    "the richest, and what it does not say": (
        multipart("alternative", PLAIN, PAGE),
        "Sale today only at noon. Your program shows no HTML.",
    ),
    "in the wrong order": (
        multipart("alternative", PAGE, PLAIN),
        "Sale today only at noon. Your program shows no HTML.",
    ),
    "a page of images": (multipart("alternative", ("text/plain", "all words"), IMAGE), "all words"),
    "an empty page": (multipart("alternative", ("text/plain", "all words"), ("text/html", "")), "all words"),
    "an invitation": (
        multipart("alternative", ("text/plain", "Sale."), PAGE, INVITATION),
        "Sale today only at noon. Hall seven, left",
    ),
    "a page with its images": (
        multipart(
            "alternative",
            ("text/plain", "today only"),
            multipart("related", PAGE, ("image/png", ""), boundary="c"),
        ),
        "Sale today only at noon.",
    ),
    "alternatives of an alternative": (
        multipart(
            "alternative",
            ("text/plain", "one."),
            multipart("alternative", ("text/plain", "two."), PAGE, boundary="c"),
        ),
        "Sale today only at noon. one. two.",
    ),
    "two in a row": (
        multipart(
            "mixed",
            multipart("alternative", ("text/plain", "same"), ("text/html", "same"), boundary="c"),
            multipart("alternative", ("text/plain", "same"), ("text/html", "same"), boundary="d"),
        ),
        "same same",
    ),
    "an attached mail": (
        multipart(
            "mixed",
            ("text/plain", "outer"),
            (
                "message/rfc822",
                mail(multipart("alternative", ("text/plain", "today"), PAGE, boundary="c")).decode(),
            ),
        ),
        "outer Sale today only at noon.",
    ),
    "a text of a format of its own": (
        multipart("alternative", ("text/plain", "pl"), ("text/rtf", r"{\rtf1 rich}")),
        "pl rich",
    ),
    "a text of a format of its own that says the same": (
        multipart("alternative", ("text/rtf", r"{\rtf1 all words}"), ("text/plain", "all words"), PAGE),
        "Sale today only at noon. all words",
    ),
    "letters without blanks": (
        multipart(
            "alternative", ("text/plain", "今日は\n休みです。"), ("text/html", "<p>今日は休みです。</p>")
        ),
        "今日は休みです。",
    ),
}


def test_alternatives(converted: Convert, subtests: pytest.Subtests) -> None:
    for case, (part, text) in CASES.items():
        with subtests.test(case):
            found = converted(mail(part), "message/rfc822")
            assert (found.text, found.truncated) == (text, "")
            assert (
                converted(b"From a@x Mon Mar  2 10:00:00 2026\n" + mail(part), "application/mbox").text
                == f"s {text}"
            )


def test_outlook_keeps_its_text_twice(converted: Convert) -> None:
    assert converted(outlook_message("s", "needle", "Ann")).text == "needle"


def test_what_was_read_stays_where_there_are_too_many_alternatives(converted: Convert) -> None:
    found = converted(mail(multipart("alternative", *[PAGE] * 1500)), "message/rfc822")
    assert found.text == "Sale today only at noon."
    assert found.truncated
