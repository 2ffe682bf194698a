"""SOIF of strangers: every mistake is told with its line and byte, whatever it claims."""

from __future__ import annotations

from contextlib import suppress
from mmap import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sentences import sentence

from ultracrawl.rules.filters.soif import SoifError, read_soif, write_soif

GOOD = b"@DOCUMENT { http://h/a\ntitle{1}:\tT\n}\n"


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        (GOOD + b"@D { u\na{9}:\tx\n}\n", "line 5, byte 44", sentence("filters.ends_before_size_9_bytes")),
        (GOOD + b"@D { u\na{2}:\txyz\n}\n", "line 5, byte 52", sentence("filters.goes_on_behind_size_2")),
        (GOOD + b"@D { u\na{999999999999}:\tx\n}\n", "line 5, byte 44", "too much"),
        (GOOD + b"@D { u\na{99999999999999}:\tx\n}\n", "line 5, byte 44", "neither an attribute"),
        (GOOD + b"@D { u\na{1}:\tx\n", "line 5, byte 51", "neither an attribute"),
        (GOOD + b"junk\n" + GOOD, "line 3, byte 36", "no object begins here"),
        (GOOD + b"@D { " + b"u" * 9000 + b"\n}\n", "line 4", "neither an attribute"),
        (b"@D { u\n" + b"a{0}:\n" * 10_001 + b"}\n", "line 10001, byte", "too much"),
        (b"\x00" * 100, "line 1, byte 0", "no object begins here"),
    ],
    ids=["size too large", "too small", "huge", "absurd", "no end", "junk", "long URL", "many", "zeros"],
)
def test_a_mistake_is_reported_with_line_and_byte(data: bytes, place: str, problem: str) -> None:
    with pytest.raises(SoifError, match=problem) as caught:
        list(read_soif(data))
    assert place in str(caught.value)


def test_a_mapped_file_is_read_as_bytes_are() -> None:
    with mmap(-1, len(GOOD)) as mapped:
        mapped.write(GOOD)
        assert list(read_soif(mapped)) == [("http://h/a", {"title": ["T"]})]


@given(st.binary(max_size=200))
def test_any_bytes_give_objects_or_the_one_error(data: bytes) -> None:
    with suppress(SoifError):
        list(read_soif(b"@D { u\n" + data))


_NAMES = st.from_regex(r"[A-Za-z][\w.-]{0,20}", fullmatch=True)


@given(st.dictionaries(_NAMES, st.lists(st.text(), min_size=1, max_size=3), max_size=4))
def test_what_is_written_is_read_again(fields: dict[str, list[str]]) -> None:
    """Names that differ only in a number at their end are values of one field in SOIF, and are left out here."""
    stems = {name.rstrip("0123456789").rstrip("-") for name in fields}
    if len(stems) < len(fields):
        return
    valid = {name: [value.encode(errors="replace").decode() for value in v] for name, v in fields.items()}
    assert list(read_soif(write_soif("http://h/", fields))) == [("http://h/", valid)]
