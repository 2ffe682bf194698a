"""Rebuilds of one index at once: none lets others write while another one of them is about to replace it."""

from __future__ import annotations

import threading

import pytest
from index.conftest import LIBRARY, document
from support.opensearch import Open, Options, behind, send

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Deletion
from ultracrawl.index.opensearch.filling import Filling

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
PATIENCE = 120.0


def is_blocked(options: Options, name: str) -> bool:
    found = send("GET", f"{options['url']}/{name}/_settings/index.blocks.*?flat_settings=true")
    assert isinstance(found, dict)
    return bool(found and found[name]["settings"].get("index.blocks.write") == "true")


def unblock(options: Options, name: str) -> None:
    assert send("PUT", f"{options['url']}/{name}/_settings", {"index.blocks.write": None}) is not None


@pytest.mark.parametrize("fails_too", [False, True], ids=["", "both fail"])
def test_a_rebuild_that_fails_leaves_the_block_of_another_one(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch, fails_too: bool
) -> None:
    first, second = opened(), opened()
    first.apply(LIBRARY)
    (old,) = behind(options)
    catch_up = Filling.catch_up
    is_second_blocking, is_first_over = threading.Event(), threading.Event()
    rebuilding = threading.Thread(target=lambda: numbers.append(rebuild_second()))
    numbers: list[int] = []

    def rebuild_second() -> int:
        try:
            return second.rebuild()
        except IndexStoreError:
            return -1

    def caught_up(self: Filling) -> int:
        if threading.current_thread() is not rebuilding:
            rebuilding.start()
            assert is_second_blocking.wait(PATIENCE)
            raise IndexStoreError("no")
        is_second_blocking.set()
        assert is_first_over.wait(PATIENCE)
        if fails_too:
            raise IndexStoreError("no")
        return catch_up(self)

    monkeypatch.setattr(Filling, "catch_up", caught_up)
    try:
        with pytest.raises(IndexStoreError):
            first.rebuild()
        assert is_blocked(options, old)
    finally:
        is_first_over.set()
        rebuilding.join(PATIENCE)
    assert numbers == [-1 if fails_too else len(LIBRARY)]
    (now,) = behind(options)
    assert (now == old) is fails_too
    assert not is_blocked(options, now)
    assert first.apply([document("/more", "more")]) == 1


def test_who_only_copies_keeps_nobody_from_writing(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = opened(), opened()
    first.apply(LIBRARY)
    (old,) = behind(options)
    copy = Filling.copy

    def fail(self: Filling) -> int:
        raise IndexStoreError("no")

    def copied(self: Filling) -> None:
        monkeypatch.setattr(Filling, "copy", copy)
        copy(self)
        with monkeypatch.context() as patched:
            patched.setattr(Filling, "catch_up", fail)
            with pytest.raises(IndexStoreError):
                second.rebuild()
        assert not is_blocked(options, old)
        assert second.apply([document("/more", "more")]) == 1

    monkeypatch.setattr(Filling, "copy", copied)
    assert first.rebuild() == len(LIBRARY) + 1


@pytest.mark.parametrize("is_blocked_again", [False, True], ids=["", "and blocked again"])
@pytest.mark.parametrize("is_removal", [False, True], ids=["a document", "a removal"])
def test_an_index_that_was_written_to_while_it_was_replaced_is_kept(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch, is_removal: bool, is_blocked_again: bool
) -> None:
    first = LIBRARY[0]
    change = Deletion(first.source, first.url) if is_removal else document("/more", "more")
    index, other = opened(), opened()
    index.apply(LIBRARY)
    (old,) = behind(options)
    catch_up = Filling.catch_up

    def caught_up(self: Filling) -> int:
        number = catch_up(self)
        unblock(options, old)
        other.apply([change])
        if is_blocked_again:
            assert send("PUT", f"{options['url']}/{old}/_block/write")
        return number

    with monkeypatch.context() as patched:
        patched.setattr(Filling, "catch_up", caught_up)
        with pytest.raises(IndexStoreError):
            index.rebuild()
    assert behind(options) == [old]
    assert ((change.source, change.url) in index.urls()) is not is_removal
    assert index.rebuild() == len(LIBRARY) + (-1 if is_removal else 1)


def test_a_block_that_was_set_again_before_anybody_wrote_does_no_harm(
    opened: Open, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened()
    index.apply(LIBRARY)
    (old,) = behind(options)
    catch_up = Filling.catch_up

    def caught_up(self: Filling) -> int:
        unblock(options, old)
        assert send("PUT", f"{options['url']}/{old}/_block/write")
        return catch_up(self)

    monkeypatch.setattr(Filling, "catch_up", caught_up)
    assert index.rebuild() == len(LIBRARY)
    assert behind(options) != [old]
