"""Orders about URLs and sites are kept in a file until a crawl takes them, or until their time is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.errors import StateError
from ultracrawl.stores.file_notes import FileNotes
from ultracrawl.stores.site_orders import (
    SITE_ORDERS,
    SiteAction,
    SiteOrder,
    leave_site_order,
    taking_site_orders,
    waits,
)

NOW = 1_000.0


def take_site_orders(notes: FileNotes, now: float, *, begins: bool = False) -> list[SiteOrder]:
    with taking_site_orders(notes, now, begins=begins) as orders:
        return orders


@pytest.fixture
def notes(tmp_path: Path) -> FileNotes:
    return FileNotes(tmp_path / "state", "shop.sqlite.")


def test_an_order_is_taken_once(notes: FileNotes) -> None:
    order = SiteOrder(SiteAction.ADD, "http://a.example/")
    assert take_site_orders(notes, NOW) == []
    leave_site_order(notes, order, NOW)
    assert waits(notes, order)
    assert take_site_orders(notes, NOW) == [order]
    assert not waits(notes, order)
    assert take_site_orders(notes, NOW, begins=True) == []


def test_an_order_is_kept_until_it_is_carried_out(notes: FileNotes) -> None:
    order = SiteOrder(SiteAction.ADD, "http://a.example/")
    leave_site_order(notes, order, NOW)
    with taking_site_orders(notes, NOW) as orders:
        assert orders == [order]
        assert notes.read(SITE_ORDERS), "a crawl that is killed here leaves it to the next one"
    assert not notes.read(SITE_ORDERS)


def test_a_full_disk_loses_no_order(notes: FileNotes, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = [SiteOrder(SiteAction.ADD, f"http://a.example/{number}") for number in range(3)]
    for order in orders[:2]:
        leave_site_order(notes, order, NOW)

    def full(_file: int, _data: bytes, _at: int) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(StateError):
        leave_site_order(notes, orders[2], NOW)
    monkeypatch.undo()
    assert take_site_orders(notes, NOW) == orders[:2]


def test_an_order_about_a_site_holds_for_each_crawl_that_begins_before_its_end(notes: FileNotes) -> None:
    leave_site_order(notes, SiteOrder(SiteAction.BLACKLIST, "a.example", until=NOW + 60), NOW)
    assert len(take_site_orders(notes, NOW)) == 1
    assert take_site_orders(notes, NOW) == []
    assert len(take_site_orders(notes, NOW + 59, begins=True)) == 1
    assert take_site_orders(notes, NOW + 61, begins=True) == []


def test_a_later_order_about_a_site_replaces_the_one_before_and_can_end_it(notes: FileNotes) -> None:
    leave_site_order(notes, SiteOrder(SiteAction.QUARANTINE, "a.example", until=NOW + 60), NOW)
    take_site_orders(notes, NOW)
    end = SiteOrder(SiteAction.QUARANTINE, "a.example", until=NOW)
    leave_site_order(notes, end, NOW)
    assert take_site_orders(notes, NOW + 1) == [end]
    assert take_site_orders(notes, NOW + 1, begins=True) == []


def test_lines_that_are_damaged_are_left_out(notes: FileNotes) -> None:
    order = SiteOrder(SiteAction.REFETCH, "http://a.example/x/", prefix=True)
    leave_site_order(notes, order, NOW)
    with notes.path(SITE_ORDERS).open("a") as damaged:
        damaged.write('nonsense\n{"action": "fly", "place": "a"}\n[1]\n')
    assert take_site_orders(notes, NOW) == [order]


def test_a_link_in_place_of_the_file_is_not_followed(notes: FileNotes, tmp_path: Path) -> None:
    notes.path(SITE_ORDERS).parent.mkdir()
    (tmp_path / "elsewhere").write_text("kept")
    notes.path(SITE_ORDERS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError):
        leave_site_order(notes, SiteOrder(SiteAction.ADD, "http://a.example/"), NOW)
    assert (tmp_path / "elsewhere").read_text() == "kept"


@pytest.mark.parametrize(
    ("place", "prefix", "selected"),
    [
        ("http://a.example/x", False, {"http://a.example/x"}),
        ("http://a.example/x", True, {"http://a.example/x", "http://a.example/x/y"}),
        ("a.example", False, {"http://a.example/x", "http://a.example/x/y", "http://a.example:81/z"}),
        ("a.example:81", False, {"http://a.example:81/z"}),
    ],
)
def test_a_place_is_a_url_a_beginning_or_a_site(place: str, prefix: bool, selected: set[str]) -> None:
    urls = {
        "http://a.example/x",
        "http://a.example/x/y",
        "http://a.example:81/z",
        "http://b.example/x",
    }
    order = SiteOrder(SiteAction.DELETE, place, prefix)
    assert set(filter(order.test(lambda url: url), urls)) == selected


@pytest.mark.parametrize(
    ("order", "about"),
    [
        (SiteOrder(SiteAction.APPROVE, ""), "abc"),
        (SiteOrder(SiteAction.APPROVE, "http://a.example/1"), "a"),
        (SiteOrder(SiteAction.APPROVE, "http://a.example/", prefix=True), "ab"),
        (SiteOrder(SiteAction.APPROVE, "http", prefix=True), "abc"),
        (SiteOrder(SiteAction.APPROVE, r".*/[12]", expression=True), "ac"),
        (SiteOrder(SiteAction.APPROVE, "1", expression=True), ""),
        (SiteOrder(SiteAction.APPROVE, "a.example"), "ab"),
    ],
    ids=["all", "one", "beginning", "shorter beginning", "expression", "no whole match", "site"],
)
def test_an_order_selects_urls(notes: FileNotes, order: SiteOrder, about: str) -> None:
    urls = {"a": "http://a.example/1", "b": "http://a.example/x", "c": "http://c.example/2"}
    leave_site_order(notes, order, NOW)
    (taken,) = take_site_orders(notes, NOW)
    selects = taken.test(lambda url: url)
    assert "".join(name for name, url in urls.items() if selects(url)) == about
