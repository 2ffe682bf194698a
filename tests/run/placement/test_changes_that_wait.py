"""How long a new version waits for others that are like it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.context import made_context

from ultracrawl.index import IndexDocument
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.duplicates.likeness import marks_of, sketch_of
from ultracrawl.run.ending import Ending
from ultracrawl.run.placement.changes import PATIENCE, AlikeChanges, Answer
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry


@pytest.fixture
def changes() -> AlikeChanges:
    """The changes of a source with a hundred documents, of which ten may become alike."""
    documents = SimpleNamespace(documents_before=lambda started: 100, release_document=lambda *told: None)
    records = SimpleNamespace(records_to_remove=lambda: iter(()))
    source = SimpleNamespace(name="s", modification=SimpleNamespace(percent=10.0, always=5))
    store = SimpleNamespace(documents=documents, records=records, flush=lambda: None)
    writer = SimpleNamespace(sync=lambda: None)
    return AlikeChanges(made_context(source, store=store, documents=SimpleNamespace(writer=writer)))


def visit_of(number: int, site: str = "h") -> Visit:
    url = f"https://{site}/p{number}"
    known = sketch_of(marks_of(f"tale of heron{'abcdefghijklmnopqrstuvwxyz'[number % 26]} {number}"))
    record = UrlRecord(url, "s", checksum=b"1", indexed=True, sketch=known)
    return Visit(QueueEntry(number, url, site, 0, number), record)


def answer(changes: AlikeChanges, number: int, text: str, site: str = "h") -> Answer:
    visit = visit_of(number, site)
    document = IndexDocument("s", visit.url, "Title", text, {})
    return changes.judge(visit, cast("Any", document))[0]


def ready(changes: AlikeChanges) -> dict[int, str]:
    return dict(changes.ready())


def visit_others(changes: AlikeChanges, number: int, site: str = "h") -> None:
    for key in range(1000, 1000 + number):
        visit = visit_of(key, site)
        visit.note_ending(Ending(UrlOutcome.NOT_MODIFIED))
        changes.visit_ended(visit)


def test_a_change_that_loses_nothing_does_not_wait(changes: AlikeChanges) -> None:
    assert answer(changes, 1, "a longer tale of heronb 1") is Answer.PLACE


def test_a_single_change_waits_for_later_visits_of_its_site(changes: AlikeChanges) -> None:
    assert answer(changes, 1, "quite other words about gulls") is Answer.DEFER
    visit_others(changes, PATIENCE, site="another")
    visit_others(changes, PATIENCE - 1)
    assert ready(changes) == {}
    visit_others(changes, 1)
    assert ready(changes) == {1: ""}


def test_two_that_are_alike_wait_until_the_end(changes: AlikeChanges) -> None:
    for number in (1, 2):
        assert answer(changes, number, "please log in") is Answer.DEFER
    visit_others(changes, 2 * PATIENCE)
    assert ready(changes) == {}
    changes.end_waiting(complete=False)
    assert ready(changes) == {}, "the run will be resumed"
    changes.end_waiting(complete=True)
    assert ready(changes) == {1: "", 2: ""}


def test_more_than_may_become_alike_are_held_back_and_all_that_come_later(changes: AlikeChanges) -> None:
    answers = [answer(changes, number, "please log in") for number in range(12)]
    assert answers == [Answer.DEFER] * 10 + [Answer.HOLD] * 2
    assert ready(changes) == dict.fromkeys(range(10), "Title")


def test_changes_of_several_sites_are_one_group(changes: AlikeChanges) -> None:
    for number in range(12):
        answer(changes, number, "please log in", site=f"h{number}")
    changes.end_waiting(complete=True)
    assert ready(changes) == dict.fromkeys(range(12), "Title")


def test_a_later_visit_with_another_result_ends_the_waiting(changes: AlikeChanges) -> None:
    answer(changes, 1, "quite other words about gulls")
    visit = visit_of(1)
    visit.note_ending(Ending(UrlOutcome.NOT_MODIFIED))
    changes.visit_ended(visit)
    changes.end_waiting(complete=True)
    assert ready(changes) == {}
