"""META refresh, srcset, plain text, first words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.content.html.links import parse_srcset
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.content.text import parse_text
from ultracrawl.model import LinkKind, RobotsDirectives
from ultracrawl.rules.attributes.mapping import first_words

REFRESHES: list[tuple[str, tuple[float, str] | None]] = [
    ("5", (5.0, "")),
    ("0;url=/x", (0.0, "/x")),
    (" 3 , URL = 'a b' c", (3.0, "a b")),
    ("1.9; /x", (1.0, "/x")),
    (".5", (0.0, "")),
    ("5x", None),
    ("url=/x", None),
    ("", None),
    ("-1;/x", None),
    ("99999999999999999999;/x", (999999999.0, "/x")),
]


def test_refresh(subtests: pytest.Subtests) -> None:
    for value, expected in REFRESHES:
        with subtests.test(value):
            assert parse_refresh(value) == expected


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("a,b.png 1x", ["a,b.png"]),
        ("a.png (x, y) 1x, b.png", ["a.png", "b.png"]),
        (",, ,", []),
        ("", []),
    ],
)
def test_srcset(value: str, urls: list[str]) -> None:
    assert parse_srcset(value) == urls


def test_text_page() -> None:
    page = parse_text(
        "Grüße\r\n see https://e.example/x.\0 ".encode("cp1252"),
        content_type="text/plain; charset=latin1",
        link_kinds=frozenset({LinkKind.TEXT}),
        x_robots_tag=("noindex",),
    )
    assert (page.title, page.text, page.charset) == ("", "Grüße see https://e.example/x.", "cp1252")
    assert [link.href for link in page.links] == ["https://e.example/x"]
    assert page.robots == RobotsDirectives(index=False)


def test_text_page_has_no_links_by_default() -> None:
    assert parse_text(b"https://e.example/").links == ()


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("one two three", 200, "one two three"),
        ("one two three", 8, "one two"),
        ("one two three", 7, "one two"),
        ("one two three", 6, "one"),
        ("  one \n two ", 9, "one two"),
        ("abcdefgh", 3, "abc"),
        ("", 5, ""),
    ],
)
def test_first_words(text: str, length: int, expected: str) -> None:
    assert first_words(text, length) == expected


@given(st.text(max_size=300), st.integers(1, 50))
def test_first_words_is_bounded(text: str, length: int) -> None:
    assert len(first_words(text, length)) <= length


@given(st.text(max_size=100))
def test_small_parsers_never_raise(text: str) -> None:
    parse_refresh(text)
    parse_srcset(text)
    parse_text(text.encode("utf-8", "replace"), link_kinds=frozenset({LinkKind.TEXT}))
