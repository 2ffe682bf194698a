"""Sketches of texts, what is lost between two versions, and which new versions are alike."""

from __future__ import annotations

import pytest

from ultracrawl.rules.duplicates.likeness import Look, Version, is_lost_in
from ultracrawl.rules.duplicates.marks import MAX_CHARS, Marks, Words, marks_of, read_sketch

LONG = " ".join(f"word{chr(97 + one)}{chr(97 + two)}" for one in range(20) for two in range(20))
LETTERS = "abcdefghij"
OWN = [f"heron{one}{two}{three}" for one in LETTERS for two in LETTERS for three in LETTERS]


def look(text: str, title: str = "Log in", url: str = "https://h/p1", common: str = "") -> Look:
    return Version(url, title, text).look(marks_of(common))


def is_lost(before: str, text: str, title: str = "", common: str = "", url: str = "https://h/p1") -> bool:
    return Version(url, title, text).is_lost(read_sketch(Words(before).sketch), marks_of(common))


ALIKE = {
    "ray id": ("verifying you are human ray id 8f3a99c01", "verifying you are human ray id 11bb77ee2"),
    "hexadecimal without digits": (
        "checking your browser deadbeefcafe",
        "checking your browser cafebabeface",
    ),
    "a long token": ("please log in " + "QxZ" * 12, "please log in " + "WvT" * 12),
    "time": ("back soon 14:03:22", "back soon 14:03:59"),
    "one word of six": ("please log in first member anna", "please log in first member otto"),
}


@pytest.mark.parametrize(("one", "other"), ALIKE.values(), ids=ALIKE)
def test_texts_are_alike_but_for_what_differs_between_equal_answers(one: str, other: str) -> None:
    assert look(one).is_like(look(other))


def test_words_of_the_own_url_do_not_count() -> None:
    one = look("sign in to continue to /heron/nest", url="https://h/heron/nest")
    other = look("sign in to continue to /willow/bank", url="https://h/willow/bank")
    assert one.is_like(other)


def test_other_texts_are_not_alike_whatever_frame_they_have() -> None:
    assert not look("a heron in the marsh").is_like(look("an otter on the bank"))
    frame = " ".join(f"frame{chr(97 + number)}" for number in range(20))
    one, other = (look(f"{frame} {text}", common=frame) for text in ("a heron in the marsh", "an otter swam"))
    assert not one.is_like(other)


def test_texts_without_words_are_alike() -> None:
    assert look("", "").is_like(look("4711", "Title"))


LOST = {
    "nothing is left": ("a heron stood in marsh", "please log in", True),
    "no words are left": ("a heron stood", "", True),
    "everything is left": ("a heron stood", "a heron stood there", False),
    "a tenth is left": (LONG, LONG[: len(LONG) // 7], False),
    "a redesign": ("a heron stood in marsh", "new look a heron stood in marsh sign up now", False),
    "half is rewritten": ("a heron stood there at dawn", "a heron flew away at dawn", False),
    "one word of many by chance": ("heron stood marsh dawn", "dawn of another day", True),
    "one word of two": ("heron marsh", "heron gulls", False),
    "only numbers are lost": ("in stock 9 nail", "in stock 7 nail", False),
    "only numbers were there": ("7 9", "please log in", True),
    "longer than any error page": ("a heron stood in marsh", f"{LONG} " * 10, True),
    "nothing before": ("", "please log in", False),
    "nothing before, nothing now": ("", "", False),
}


@pytest.mark.parametrize(("before", "now", "lost"), LOST.values(), ids=LOST)
def test_a_version_is_lost_if_its_documents_own_words_are(before: str, now: str, lost: bool) -> None:
    assert is_lost(before, now) is lost
    assert is_lost(before, "", now) is lost, "the title counts as the text does"


def test_words_that_most_documents_share_and_those_of_the_url_do_not_count() -> None:
    frame = "home shop cart imprint contact"
    assert is_lost(f"{frame} brass nail long thin", f"{frame} please log in", common=frame)
    assert is_lost("brass nail", "log in to see brass", url="https://h/brass")
    assert not is_lost(f"{frame} brass nail long thin", f"{frame} brass nail long", common=frame)


def test_a_document_without_words_of_its_own_is_judged_by_all() -> None:
    frame = "home shop cart imprint contact"
    assert is_lost(f"{frame} 4711", "please log in 4712", common=frame)
    assert not is_lost(f"{frame} 4711", f"{frame} 4712", common=frame)
    assert not is_lost(f"{frame} 4711", "sold out 4711", common=frame)


def test_sketches_tell_whether_a_document_is_lost_in_another_one() -> None:
    def lost(before: str, now: str, left_out: str = "") -> bool:
        return is_lost_in(Version("", "", before).sketch, Version("", "", now).sketch, marks_of(left_out))

    text = "brass nails are long and thin"
    assert lost(text, "please log in with your account")
    assert lost(text, ""), "a page without words"
    assert lost(f"home shop cart {text}", "home shop cart log in", "home shop cart")
    assert lost(LONG, "please log in"), "of a long text a sample is known"
    assert not lost(text, f"new frame {text}")
    assert not lost(text, f"{text} {LONG}"), "of the longer one only the smallest marks are known"
    assert not lost("4711", "please log in"), "it had no words"
    assert not is_lost_in(Version("", "", text).sketch, b"", Marks()), "its words are not known"


def test_a_look_finds_the_former_versions_that_had_it() -> None:
    wall = Version("https://h/a", "Consent", f"we use cookies {LONG}")
    later = Version("https://h/b", "Consent", f"we use cookies {LONG} request 4711")
    assert wall.look(Marks()).was_like(read_sketch(later.sketch), Marks())
    assert not wall.look(Marks()).was_like(marks_of("a heron stood"), Marks())
    assert not look("", "").was_like(Marks(), Marks())


def test_a_long_document_is_found_wherever_its_words_have_gone() -> None:
    before = read_sketch(Version("https://h/a", "", " ".join(OWN)).sketch)
    moved = Version("https://h/a", "", f"{LONG} " * 3 + " ".join(OWN))
    assert len(moved.text) < MAX_CHARS
    assert not moved.is_lost(before, Marks())
    assert Version("https://h/a", "", f"{LONG} " * 3).is_lost(before, Marks())


def test_a_frame_larger_than_what_is_sketched_of_the_beginning_does_not_hide_a_document() -> None:
    frame = " ".join(OWN[:600])
    page = Version("https://h/a", "", f"{frame} {LONG} imprint contact")
    before, common = read_sketch(page.sketch), marks_of(frame, "imprint contact")
    assert before - common
    assert Version("https://h/a", "", f"{frame} please log in imprint contact").is_lost(before, common)
