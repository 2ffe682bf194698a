"""Equal and nearly equal content in the state store."""

from __future__ import annotations

import random

import pytest
from stores.conftest import Place

from ultracrawl.model import Page, UrlRecord
from ultracrawl.rules.duplicates import fingerprint
from ultracrawl.rules.duplicates.fingerprint import Fingerprints, blocks, distance, signature
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.state import contents

PRINT = b"0123456789abcdef"


@pytest.fixture
def state(place: Place) -> Store:
    return place.open("a")


def entry(url: str, seq: int) -> QueueEntry:
    return QueueEntry(url_key(url), url, "site", 0, seq)


@pytest.mark.parametrize("flushed", [False, True], ids=["unflushed", "flushed"])
def test_records_of_equal_content_are_found(state: Store, flushed: bool) -> None:
    for number, url in enumerate(("http://x/a", "http://x/b", "http://x/c"), 1):
        found = entry(url, number)
        state.records.discover_url(found, 1.0)
        given = b"" if url.endswith("c") else PRINT
        state.records.finish_url(found, UrlRecord(url, "a", fingerprint=given, preference=2))
    if flushed:
        state.flush()
    assert sorted(one.url for one in state.records.with_fingerprint(PRINT)) == ["http://x/a", "http://x/b"]
    assert state.records.with_fingerprint(b"") == []
    assert state.records.with_fingerprint(PRINT)[0].preference == 2
    state.records.amend_record(url_key("http://x/a"), UrlRecord("http://x/a", "a"))
    assert [one.url for one in state.records.with_fingerprint(PRINT)] == ["http://x/b"]


@pytest.mark.parametrize("flushed", [False, True], ids=["unflushed", "flushed"])
@pytest.mark.parametrize(
    ("parts", "within", "found"), [(0, 3, True), (3, 3, True), (5, 4, False), (3, 2, False), (1, 0, False)]
)
def test_the_nearest_text_is_found(state: Store, flushed: bool, parts: int, within: int, found: bool) -> None:
    dice = random.Random(parts)
    value = dice.getrandbits(64) | 1 << 63
    state.records.put_signature(PRINT, value)
    if flushed:
        state.flush()
    for _ in range(50):
        other = value
        for part in dice.sample(range(16), parts):
            other ^= dice.randrange(1, 16) << 4 * part
        assert state.records.nearest_signature(other, within) == (PRINT if found else None)


@pytest.mark.parametrize("most", [1000, 60, 0], ids=["in-memory", "until-they-are-too-many", "in-the-store"])
def test_the_nearest_of_many_texts_is_the_one_that_a_comparison_with_all_finds(
    state: Store, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Texts of one template differ in some parts only, so that several are near, and equally near."""
    monkeypatch.setattr(contents, "MAX_SIGNATURES", most)
    dice = random.Random(7)
    template, texts, found = dice.getrandbits(64), dict[bytes, int](), []
    for number in range(200):
        value = template
        for part in dice.sample(range(16), dice.randrange(8)):
            value ^= dice.randrange(1, 16) << 4 * part
        within = dice.randrange(5)
        common = {one: other for one, other in texts.items() if set(blocks(other)) & set(blocks(value))}
        nearest = min(((distance(value, other), one) for one, other in common.items()), default=(99, b""))
        expected = nearest[1] if nearest[0] <= within else None
        assert state.records.nearest_signature(value, within) == expected
        found.append(expected)
        texts[(name := dice.randbytes(16))] = value
        state.records.put_signature(name, value)
        if number % 30 == 20:
            state.flush()
    assert None in found
    assert len(set(found)) > 10


def test_signatures_of_another_form_are_not_compared(state: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as former:
        former.setattr(fingerprint, "FORM", fingerprint.FORM - 1)
        state.records.put_signature(PRINT, 5)
        state.flush()
        assert state.records.nearest_signature(5, 0) == PRINT
    assert state.records.nearest_signature(5, 4) is None


def test_texts_that_no_page_has_are_forgotten_by_the_next_run(state: Store) -> None:
    state.records.put_signature(PRINT, 5)
    state.flush()
    state.begin_run(1.0, "scope")
    assert state.records.nearest_signature(5, 0) is None


def test_signature_is_close_for_close_texts_only() -> None:
    text = " ".join(f"word{number}" for number in range(500))
    same, other = signature(text), signature(text[::-1])
    assert same is not None
    assert other is not None
    assert signature(text.upper().replace(" ", ", ")) == same
    assert distance(same, other) > 8
    assert signature("two words") is None
    assert signature(text, 501) is None
    assert len(set(blocks(same)) | set(blocks(same ^ 1))) == 5


def test_text_and_body_are_never_mistaken_for_each_other() -> None:
    page = Page(title="a", text="b")
    assert Fingerprints().of(page, b"") != Fingerprints(by_text=False).of(page, b"a\0b")
