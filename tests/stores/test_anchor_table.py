"""Anchor texts in the state: counted by pages and targets, taken back with them, told to the index, crash or not."""

from __future__ import annotations

from array import array

import pytest
from stores.conftest import Place

from ultracrawl.content.anchors import (
    LONGEST,
    MOST_ANCHORS,
    MOST_SECTION_ANCHORS,
    SHARED,
    anchor_mark,
    anchor_text,
    says_more_than,
)
from ultracrawl.stores import LinkTexts, QueueEntry, Store

A, B, C, HERON, EGRET, OLD, OLDER = 1, 2, 3, 10, -11, 12, 13


@pytest.fixture
def state(place: Place) -> Store:
    return with_urls(place.open())


def with_urls(opened: Store) -> Store:
    for key in (A, B, C, HERON, EGRET, OLD, OLDER):
        opened.records.discover_url(QueueEntry(key, f"http://h/{key}", "http://h", 0, key), 1.0)
    return opened


def say(state: Store, page: int, *links: tuple[int, str] | tuple[int, str, str]) -> None:
    state.links.put_page_anchors(
        page, array("q", [state.links.note_anchor(*link) for link in links]).tobytes()
    )


def texts(state: Store, key: int) -> tuple[str, ...]:
    state.flush()
    return state.links.anchor_texts([key]).get(key, LinkTexts()).whole


def handed(state: Store, *keys: int) -> None:
    """Have documents go to the index with the texts that are known by now."""
    state.flush()
    for key in keys:
        state.links.submitted_with_texts(key, state.links.anchor_texts([key]).get(key, LinkTexts()))
    state.flush()


def news(state: Store) -> dict[int, tuple[str, ...]]:
    """Return which texts of links to whole documents are new at the end of a run."""
    return {key: texts.whole for key, texts in all_news(state).items()}


def all_news(state: Store) -> dict[int, LinkTexts]:
    """Return what is new at the end of a run."""
    state.links.sweep_anchors()
    state.flush()
    found = state.links.changed_texts(state.links.documents_due(None, 100))
    state.flush()
    state.links.note_texts_arrived()
    assert state.links.documents_due(None, 100) == []
    return found


def test_texts_come_in_an_order_of_their_own_each_once(state: Store) -> None:
    say(state, A, (HERON, "heron"), (HERON, "ardea"), (EGRET, "egret"))
    say(state, B, (HERON, "heron"))
    assert texts(state, HERON) == ("ardea", "heron")
    assert texts(state, EGRET) == ("egret",)
    assert texts(state, A) == ()


def test_what_the_index_got_is_not_due_and_what_comes_after_is(state: Store) -> None:
    say(state, A, (HERON, "heron"))
    handed(state, HERON, EGRET)
    say(state, B, (HERON, "heron"), (EGRET, "egret"))
    assert news(state) == {EGRET: ("egret",)}, "another page saying the same changes nothing"
    say(state, B, (HERON, "ardea"))
    assert news(state) == {HERON: ("ardea", "heron"), EGRET: ()}
    assert news(state) == {}


def test_a_text_goes_with_its_last_page(state: Store) -> None:
    say(state, A, (HERON, "heron"), (EGRET, "egret"))
    say(state, B, (HERON, "heron"))
    handed(state, HERON, EGRET)
    say(state, A)
    assert news(state) == {EGRET: ()}
    state.drop_urls([B])
    assert news(state) == {HERON: ()}, "the page was forgotten, and its links with it"
    say(state, A, (HERON, "heron"))
    assert news(state) == {HERON: ("heron",)}, "said again"


def test_a_text_that_went_and_came_in_one_run_is_still_known(state: Store) -> None:
    say(state, A, (HERON, "heron"))
    mark = array("q", [anchor_mark(HERON, "heron")]).tobytes()
    say(state, A)
    state.flush()
    state.links.put_page_anchors(B, mark)  # by who met the text before
    assert texts(state, HERON) == ("heron",)


def test_of_many_texts_those_that_most_pages_have(state: Store) -> None:
    said = [(HERON, f"heron {number:02}") for number in range(MOST_ANCHORS + 1)]
    say(state, A, *said)
    handed(state, HERON)
    assert texts(state, HERON) == tuple(text for _, text in said[:-1])
    say(state, B, said[-1])
    assert news(state) == {HERON: tuple(text for _, text in (*said[:-2], said[-1]))}, "numbers decide"


def test_what_a_part_is_called_is_kept_apart_with_its_fragment(state: Store) -> None:
    say(state, A, (HERON, "nest", "eggs"), (HERON, "heron"), (EGRET, "young", "y"))
    say(state, B, (HERON, "heron", "top"))
    state.flush()
    assert state.links.anchor_texts([HERON, EGRET]) == {
        HERON: LinkTexts(("heron",), (("eggs", "nest"), ("top", "heron"))),
        EGRET: LinkTexts((), (("y", "young"),)),
    }


def test_a_document_is_due_when_only_what_its_parts_are_called_has_changed(state: Store) -> None:
    say(state, A, (HERON, "heron"), (HERON, "nest", "eggs"))
    handed(state, HERON, EGRET)
    assert all_news(state) == {}
    say(state, B, (HERON, "clutch", "eggs"), (EGRET, "egret"))
    assert all_news(state) == {
        HERON: LinkTexts(("heron",), (("eggs", "clutch"), ("eggs", "nest"))),
        EGRET: LinkTexts(("egret",)),
    }
    say(state, A, (HERON, "heron"))
    state.drop_urls([B])
    assert all_news(state) == {HERON: LinkTexts(("heron",)), EGRET: LinkTexts()}


def test_of_many_texts_of_parts_those_that_most_pages_have(state: Store) -> None:
    said = [(HERON, f"nest {number:03}", f"n{number:03}") for number in range(MOST_SECTION_ANCHORS + 1)]
    say(state, A, *said)
    handed(state, HERON)
    say(state, B, said[-1])
    parts = tuple((fragment, text) for _, text, fragment in (*said[:-2], said[-1]))
    assert all_news(state) == {HERON: LinkTexts((), parts)}, "numbers decide"


def test_a_text_of_links_to_many_parts_of_a_document_says_nothing_of_them_nor_one_to_many_documents(
    state: Store,
) -> None:
    say(state, A, *[(HERON, "default", f"d{number}") for number in range(SHARED)], (HERON, "nest", "eggs"))
    handed(state, HERON)
    say(state, B, (HERON, "default", "d"), (HERON, "default"))
    assert all_news(state) == {HERON: LinkTexts(("default",), (("eggs", "nest"),))}, (
        "the whole is one document"
    )
    say(state, B)
    say(state, C, *[(target, "nest") for target in range(100, 101 + SHARED)])
    assert all_news(state) == {
        HERON: LinkTexts((), tuple((f"d{number}", "default") for number in range(SHARED)))
    }


def test_texts_of_links_to_many_documents_count_for_none_and_again_when_they_are_fewer(
    state: Store,
) -> None:
    few = [(target, "next") for target in range(100, 100 + SHARED)]
    for target, _ in few:
        state.records.discover_url(QueueEntry(target, f"http://h/{target}", "http://h", 0, target), 1.0)
    say(state, A, *few, (100, "heron"))
    handed(state, *(target for target, _ in few))
    say(state, B, (200, "next"))
    assert news(state) == {100: ("heron",), **{target: () for target, _ in few[1:]}}
    say(state, B)
    assert news(state) == {100: ("heron", "next"), **{target: ("next",) for target, _ in few[1:]}}


def test_what_is_said_of_a_url_that_redirects_is_said_of_its_target(state: Store) -> None:
    handed(state, HERON, EGRET)
    state.links.put_redirect(OLDER, OLD)
    state.links.put_redirect(OLD, HERON)
    say(state, A, (OLDER, "grey heron"), (HERON, "heron"))
    assert news(state) == {HERON: ("grey heron", "heron")}
    state.links.put_redirect(OLD, EGRET)
    assert news(state) == {HERON: ("heron",), EGRET: ("grey heron",)}
    say(state, C, (OLD, "nest", "eggs"))
    assert all_news(state) == {EGRET: LinkTexts(("grey heron",), (("eggs", "nest"),))}
    say(state, C)
    say(state, B, (OLD, "egret"))
    assert news(state) == {EGRET: ("egret", "grey heron")}
    state.drop_urls([OLDER])
    assert news(state) == {EGRET: ("egret",)}
    state.links.put_redirect(OLD, OLDER)
    state.links.put_redirect(OLDER, OLD)
    assert news(state) == {EGRET: ()}, "a circle ends"


def test_what_is_not_yet_delivered_survives_a_kill(kept: Place) -> None:
    def work(opened: Store) -> None:
        state = with_urls(opened)
        say(state, A, (HERON, "heron"))
        handed(state, HERON)
        state.links.submitted_without_texts(EGRET)
        say(state, A, (HERON, "ardea"))
        state.flush()
        state.links.note_anchor(EGRET, "lost with the page that said it")

    kept.killed(work)
    assert news(kept.open()) == {HERON: ("ardea",), EGRET: ()}


def test_texts_are_due_until_they_have_arrived_and_are_sent_again_if_they_got_lost(state: Store) -> None:
    say(state, A, (HERON, "heron"), (EGRET, "egret"))
    handed(state, HERON)
    state.links.submitted_without_texts(EGRET)
    state.flush()
    due = state.links.documents_due(None, 100)
    assert due == [EGRET], "the other one has its text with it"
    assert state.links.changed_texts(due) == {EGRET: LinkTexts(("egret",))}
    state.flush()
    assert state.links.documents_due(None, 100) == [EGRET]
    assert state.links.changed_texts([EGRET]) == {}, "it is on its way"
    state.links.resubmit_due_texts()
    assert state.links.changed_texts([HERON, EGRET]) == {EGRET: LinkTexts(("egret",))}
    state.flush()
    state.links.note_texts_arrived()
    state.links.resubmit_due_texts()
    assert news(state) == {}


def test_a_document_without_its_texts_stays_due_whatever_arrives(state: Store) -> None:
    say(state, A, (HERON, "heron"))
    state.links.submitted_without_texts(HERON)
    state.flush()
    state.links.note_texts_arrived()
    assert news(state) == {HERON: ("heron",)}


def test_documents_that_left_are_not_due(state: Store) -> None:
    handed(state, HERON, EGRET)
    say(state, A, (HERON, "heron"), (EGRET, "egret"))
    state.links.note_document_removed(HERON)
    state.drop_urls([EGRET])
    assert news(state) == {}


def test_after_damage_all_is_reported_again(state: Store) -> None:
    say(state, A, (HERON, "heron"))
    handed(state, HERON)
    state.links.invalidate_submitted_texts()
    assert news(state) == {HERON: ("heron",)}


SAID = [
    ("  Grey\n HERONS ", "grey herons"),
    ("→ ¶ _", ""),
    ("www.example.com/a", ""),
    ("https://example.com/", ""),
    ("see https://example.com/", "see https://example.com/"),
    ("3.11", "3.11"),
    ("東京", "東京"),
    ("word " * 40, ("word " * 40)[:LONGEST].strip()),
    ("x" * 300, "x" * LONGEST),
]


def test_what_a_link_says(subtests: pytest.Subtests) -> None:
    for text, said in SAID:
        with subtests.test(text=text):
            assert anchor_text(text) == said


@pytest.mark.parametrize(
    ("text", "fragment", "more"),
    [
        ("heappush()", "heapq.heappush", False),
        ("max connections", "GUC-MAX-CONNECTIONS", False),
        ("\u00fcbersicht", "%C3%9Cbersicht", False),
        ("[2]", "id5", False),
        ("c", "%3Cinit%3E()", True),
        ("push on a heap", "heapq.heappush", True),
        ("heapq.heappush()", "heappush", True),
    ],
)
def test_a_text_that_is_in_the_name_of_the_part_says_no_more(text: str, fragment: str, more: bool) -> None:
    assert says_more_than(text, fragment) is more


@pytest.mark.parametrize(
    ("text", "fragment", "more"),
    [
        ("exception", "%3Cinit%3E(java.lang.String)", False),
        ("exception.getmessage()", "getMessage()", False),
        ("java.lang.exception", "%3Cinit%3E()", False),
        ("localhost", "top", True),
        ("exception with a message", "%3Cinit%3E(java.lang.String)", True),
    ],
)
def test_a_text_that_is_in_the_names_of_the_part_and_its_page_says_no_more(
    text: str, fragment: str, more: bool
) -> None:
    assert says_more_than(text, fragment, "http://localhost/java/lang/Exception.html?v=message") is more
