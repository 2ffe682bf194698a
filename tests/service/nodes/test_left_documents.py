"""Documents in the cache of a machine that does not crawl their source now: none is lost, and none fetched twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.machines import PAGES, Machines
from support.until import until

pytestmark = [pytest.mark.servers, pytest.mark.processes]
ALL = sorted(["/", *(f"/{number}" for number in range(PAGES))])


@pytest.fixture
def paused(machines: Machines, tmp_path: Path) -> Machines:
    """Machines with one index, to which that of the node a delivers nothing for now."""
    machines.definition["index"] = {"path": str(tmp_path / "index")}
    machines.source("one")
    assert machines.workspace("a").command("feeding", "pause", "one").code == 0
    return machines


def cache_of(machines: Machines) -> Path:
    """Return the document cache of the node a."""
    return machines.folder / "a" / "var" / "cache" / "one"


def delivered(machines: Machines) -> list[str]:
    """Return the paths of all documents that are in the index by the state."""
    rows = machines.command("urls", "--source", "one", "--json").lines
    return sorted("/" + row["url"].rpartition("/")[2] for row in rows if row["indexed"])


def indexed(machines: Machines) -> list[str]:
    """Return what is in the index by the state, when nothing changes it: the index has the same."""
    known = delivered(machines)
    if known:
        hits = machines.command("search", "of OR needle", "--limit", "100", "--json").json["hits"]
        assert sorted("/" + hit["url"].rpartition("/")[2] for hit in hits) == known
    return known


def test_what_waits_on_a_living_node_is_left_to_it_and_that_of_a_dead_one_fetched_again(
    paused: Machines,
) -> None:
    a = paused.start("a")
    until(lambda: paused.sites["one"].count(f"/{PAGES - 1}") and not paused.nodes()["a"].plans, a)
    assert paused.outcomes("one") == ["NEW"] * (PAGES + 1)
    assert paused.command("crawl", "one").code == 0
    assert indexed(paused) == [], "they are where they were"
    assert paused.command("feeding", "resume", "one").code == 0, "another machine has the source open"
    url = paused.definition["sources"]["one"]["start_urls"][0]
    assert paused.command("approve", "one", "--remove", f"{url}5").code == 0
    assert indexed(paused) == []
    (cache_of(paused) / "feeding.json").unlink()
    left = [path for path in ALL if path != "/5"]
    until(lambda: delivered(paused) == left, a)
    assert indexed(paused) == left
    paused.end("a", a)
    assert set(paused.outcomes("one")) <= {"UNMODIFIED", "NOT_MODIFIED", "REMOVED"}


def test_what_a_dead_node_had_is_fetched_again_in_the_next_run_and_what_it_still_has_does_not_count(
    paused: Machines,
) -> None:
    a = paused.start("a")
    until(lambda: paused.sites["one"].count(f"/{PAGES - 1}") and not paused.nodes()["a"].plans, a)
    a.kill()
    a.wait()
    until(lambda: not paused.nodes()["a"].alive)
    paused.sites["one"].page("/7", title="changed", text="needle changed")
    assert paused.command("crawl", "one").code == 0
    assert indexed(paused) == ALL
    assert list(cache_of(paused).rglob("*.sealed")), "older documents"
    assert paused.workspace("a").command("feeding", "resume", "one").code == 0
    assert not list(cache_of(paused).rglob("*.sealed"))
    assert indexed(paused) == ALL
    assert len(paused.command("search", "changed", "--json").json["hits"]) == 1


def say_heron(machines: Machines) -> None:
    """Have the page /1 link to the page /2."""
    html = b"<html lang=en><title>changed</title><body>needle<nav role=navigation><a href=/2>heron</a></nav>"
    machines.sites["one"].file("/1", html, "text/html; charset=utf-8")


def anchors(machines: Machines) -> list[str]:
    """Return the texts of links that the index has with the page /2."""
    rows = map(json.loads, machines.command("index", "dump").out.splitlines())
    return next((row["anchors"] for row in rows if row["url"].endswith("/2")), ["no document"])


def test_texts_of_links_that_waited_on_a_dead_node_are_sent_again(paused: Machines) -> None:
    assert paused.command("crawl", "one").code == 0
    say_heron(paused)
    assert paused.workspace("a").command("crawl", "one").code == 0
    assert paused.command("crawl", "one").code == 0
    assert anchors(paused) == ["/2", "heron"], "its page has not changed"


def test_a_document_that_waits_on_a_living_node_gets_what_other_machines_find_of_its_links(
    paused: Machines,
) -> None:
    a = paused.start("a")
    until(lambda: paused.sites["one"].count(f"/{PAGES - 1}") and not paused.nodes()["a"].plans, a)
    say_heron(paused)
    assert paused.command("crawl", "one").code == 0
    (cache_of(paused) / "feeding.json").unlink()
    until(lambda: anchors(paused) == ["/2", "heron"], a, patience=60)
    paused.end("a", a)


def test_what_was_approved_and_lost_is_delivered_without_another_approval(paused: Machines) -> None:
    paused.definition["sources"]["one"]["crawling_mode"] = "examine"
    a = paused.workspace("a")
    url = paused.definition["sources"]["one"]["start_urls"][0]
    assert a.crawl().run["outcomes"]["PENDING"] == PAGES + 1
    assert a.command("approve", "one", f"{url}1", f"{url}2").code == 0
    assert paused.command("approve", "one", f"{url}3").code == 0
    assert indexed(paused) == ["/3"]
    paused.sites["one"].page("/2", title="changed", text="another text")
    assert paused.command("crawl", "one").code == 0
    assert indexed(paused) == ["/1", "/3"], "of 2 nobody has approved this text"
    rows = paused.command("urls", "--source", "one", "--outcome", "PENDING", "--json").lines
    assert len(rows) == PAGES - 1
