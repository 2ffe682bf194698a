"""What a flush costs where each round trip takes milliseconds: reads go together, and so do writes."""

from __future__ import annotations

from array import array
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from support.turns import counted_turns

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.recrawl.adaptive import Observation
from ultracrawl.stores import QueueEntry, SiteClock
from ultracrawl.stores.postgresql.engine import PostgresEngine
from ultracrawl.stores.postgresql.store import PostgresStore

pytestmark = pytest.mark.servers
PAGES, LINKS, KNOWN = 40, 10, 1000


def entry(number: int) -> QueueEntry:
    site = f"h{number % 20}"
    return QueueEntry(number, f"http://{site}/{number}", site, 1, number)


def fetch(store: PostgresStore, page: QueueEntry, targets: list[int]) -> None:
    """Record a page as a crawl does: its record, its links with their texts, its visit, its document."""
    record = store.records.get_record(page.key)
    assert record is not None
    links = array("q", targets).tobytes()
    done = replace(record, outcome=UrlOutcome.NEW, last_fetched=3.0, links=links, fingerprint=links[:16])
    store.records.finish_url(page, done)
    marks = [store.links.note_anchor(target, f"text {target % 50}") for target in targets]
    store.links.put_page_anchors(page.key, array("q", marks).tobytes())
    store.links.put_redirect(page.key, 0)
    store.links.submitted_without_texts(page.key)
    store.visits.note_visit(Observation(page.key, 3.0, True))


def test_a_flush_is_two_round_trips_and_a_new_page_none(options: dict[str, str]) -> None:
    with (
        counted_turns(options["url"]) as turns,
        closing(PostgresEngine({**options, "url": turns.url}).open_store(Path(), "s")) as store,
    ):
        store.begin_run(1.0, "")
        for number in range(1, KNOWN):
            store.records.known_urls([number])
            store.records.discover_url(entry(number), 1.0)
        store.flush()
        pages, known, costs = map(entry, range(1, KNOWN)), KNOWN, []
        for _ in range(10):
            before = turns.number
            for page in (next(pages) for _ in range(PAGES)):
                targets = list(range(known, known + LINKS))
                assert not store.records.known_urls(targets)
                for target in targets:
                    store.records.discover_url(entry(target), 2.0)
                known += LINKS
                fetch(store, page, targets)
            between = turns.number
            store.flush()
            costs.append((between - before, turns.number - between))
        assert all(reading == 0 for reading, _ in costs[1:]), costs
        renewed = (
            known.bit_length() - KNOWN.bit_length()
        )  # the statistics, each time that the source has doubled
        assert sum(writing for _, writing in costs[1:]) <= 2 * len(costs[1:]) + renewed, costs


def test_clocks_of_sites_are_stored_by_one_round_trip(options: dict[str, str]) -> None:
    with (
        counted_turns(options["url"]) as turns,
        closing(PostgresEngine({**options, "url": turns.url}).open_sites(Path())) as sites,
    ):
        crawl = sites.register_crawl("s", 60.0)
        sites.lease_sites(crawl, {"a": ["a"], "b": ["b"]})
        before = turns.number
        sites.put_clocks(crawl, [SiteClock("b", 6.0), SiteClock("a", 5.0)])
        stored = turns.number
        sites.release_sites(crawl, [SiteClock("b", 7.0)])
        assert (stored - before, turns.number - stored) == (1, 1)
        found = [sites.get_clock(name) for name in "ab"]
        assert [clock and clock.next_at for clock in found] == [5.0, 7.0]
