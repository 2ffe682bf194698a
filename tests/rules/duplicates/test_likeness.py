"""Sketches of texts, and the groups of changes that make documents alike."""

from __future__ import annotations

import pytest

from ultracrawl.rules.duplicates.likeness import (
    SKETCH_SIZE,
    Change,
    Group,
    marks_of,
    marks_of_url,
    read_sketch,
    sketch_of,
)

LONG = " ".join(f"word{chr(97 + one)}{chr(97 + two)}" for one in range(20) for two in range(20))


def change(
    text: str, title: str = "Log in", before: str = "a heron stood", url: str = "https://h/p1"
) -> Change:
    return Change.of(1, url, title, text, sketch_of(marks_of(before)))[0]


def like(one: Change, other: Change) -> bool:
    return one.is_like(other.title, other.signature)


def test_a_short_text_is_its_own_sketch_and_a_long_one_has_a_bounded_one() -> None:
    short = marks_of("A heron, a marsh")
    assert read_sketch(sketch_of(short)) == short == marks_of("marsh heron a")
    assert len(read_sketch(sketch_of(marks_of(LONG)))) == SKETCH_SIZE
    assert read_sketch(sketch_of(marks_of(LONG))) < marks_of(LONG)
    assert read_sketch(b"") == read_sketch(b"abc") == frozenset()


def test_the_words_of_a_url_are_those_of_path_and_query_in_any_form() -> None:
    assert marks_of("gr%C3%BCn") | marks_of("grün teich") == marks_of_url("https://host/gr%C3%BCn?teich")
    assert marks_of_url("https://[broken") == frozenset()


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
    assert like(change(one), change(other))


def test_words_of_the_own_url_do_not_count() -> None:
    one = change("sign in to continue to /heron/nest", url="https://h/heron/nest")
    other = change("sign in to continue to /willow/bank", url="https://h/willow/bank")
    assert like(one, other)


def test_other_texts_and_other_titles_are_not_alike() -> None:
    assert not like(change("a heron in the marsh"), change("an otter on the bank"))
    assert not like(change("in stock", title="Copper nail"), change("in stock", title="Brass screw"))


SUSPECT = {
    "nothing is left": ("please log in", "Log in", "a heron stood", True),
    "everything is left": ("a heron stood there", "Heron", "a heron stood", False),
    "the title is the page's own": ("please log in", "p1", "a heron stood", False),
    "too long for an error page": (LONG * 10, "Log in", "a heron stood", False),
    "only numbers are lost": ("in stock: 7", "Nail", "in stock: 9 nail", False),
    "only numbers were there": ("please log in", "Log in", "7 9", True),
    "nothing is known, and there are words": ("please log in", "Log in", "", True),
    "nothing before, nothing now": ("", "", "", False),
}


@pytest.mark.parametrize(("text", "title", "before", "suspect"), SUSPECT.values(), ids=SUSPECT)
def test_a_change_is_suspicious_if_words_are_lost(text: str, title: str, before: str, suspect: bool) -> None:
    assert change(text, title, before).is_suspect is suspect


def group_of(*pairs: tuple[str, str]) -> Group:
    changes = [
        Change.of(key, f"https://h/p{key}", "T", text, sketch_of(marks_of(before)))[0]
        for key, (before, text) in enumerate(pairs)
    ]
    group = Group.of(changes[0])
    for each in changes[1:]:
        group.add(each)
    return group


def test_a_group_overwrites_documents_that_lose_their_own_words() -> None:
    assert group_of(("the heron", "log in"), ("the otter", "log in"), ("the vole", "log in")).overwrites


def test_a_group_whose_members_keep_their_own_words_overwrites_nothing() -> None:
    shop = "shop home cart imprint"
    pairs = [(f"{shop} nail {size} mm", f"new look {shop} since 1990 nail {size} mm") for size in (3, 4, 5)]
    assert not group_of(*pairs).overwrites


def test_numbers_are_what_distinguishes_documents_that_have_nothing_else() -> None:
    sold_out = [(f"part {number}0: in stock", f"part {number}0: sold out") for number in range(9)]
    assert not group_of(*sold_out).overwrites
    wall = [(f"part {number}0: in stock", "please log in") for number in range(9)]
    assert group_of(*wall).overwrites


def test_documents_of_which_nothing_is_known_count_as_overwritten() -> None:
    assert group_of(("", "log in"), ("", "log in"), ("", "log in")).overwrites


def test_a_repeated_member_counts_once() -> None:
    group = group_of(("the heron", "log in"), ("the otter", "log in"))
    group.add(Change.of(1, "https://h/p1", "T", "log in", b"")[0])
    assert len(group.members) == 2
