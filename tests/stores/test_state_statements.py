"""How often a crawl asks its store between two flushes: not once a page, however many URLs are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest
from stores.conftest import IN_SERVERS, a_schema
from support.clock import wall_time
from support.context import made_context
from support.project import LOOPBACK, Workspace
from support.site import Site
from support.statements import OPTIONS, count_statements, statements_of
from support.turns import counted_turns

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.rules.urls.canonical import UrlPolicy, site_of, url_key
from ultracrawl.scheduler.candidate_filter import CandidateFilter, CandidateListeners, LinkPage
from ultracrawl.scheduler.link_urls import LinkUrls
from ultracrawl.scheduler.recrawl import RecrawlActivator
from ultracrawl.stores import QueueEntry, RunMark, SqliteStore, Store
from ultracrawl.stores.project_stores import store_engine
from ultracrawl.stores.state import read_ahead

PAGES, FLUSHES = 100, 10
SITES = 20
KNOWN_LINKS, NEW_LINKS = 20, 2
RULE = "5xx"
Asked = Callable[[], int]


def url_of(number: int) -> str:
    return f"http://h{number % SITES}.example/{number}"


def print_of(number: int) -> bytes:
    return blake2b(number.to_bytes(8, "big"), digest_size=16).digest()


def signature_of(number: int) -> int:
    return int.from_bytes(print_of(number)[:8], "big")


def fill(store: Store, known: int) -> None:
    """Add URLs: pages that an earlier run has read, and as many more as are to be known, which no run requests.

    Every third page was behind two documents in another language, and failed once.
    """
    store.begin_run(1.0, "")
    for number in range(known):
        url, is_page = url_of(number), number < PAGES * FLUSHES
        entry = QueueEntry(url_key(url), url, site_of(url), 1, number + 1)
        store.records.discover_url(entry, 1.0, queued=is_page)
        if is_page:
            read = UrlRecord(url, "s", 1, outcome=UrlOutcome.NEW, last_fetched=1.0)
            store.records.amend_record(entry.key, replace(read, fingerprint=print_of(number)))
            store.records.put_signature(print_of(number), signature_of(number))
            if number % 3 == 0:
                store.queue.put_hops(entry.key, 2)
                store.visits.count_failure(entry.key, RULE)
        if number % 20_000 == 0:
            store.flush()
    store.flush()


@pytest.fixture(params=[pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.servers)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Callable[[], Store], Asked]]:
    """Opens a store, and tells how often it was asked: statements that SQLite ran alone, or round trips of a client."""
    with ExitStack() as around:
        options, folder = None, tmp_path / "state"
        asked: list[str] = []
        alone: Asked = lambda: alone_in(asked)  # noqa: E731 - the other one is a function as well
        if request.param in IN_SERVERS:
            options = around.enter_context(a_schema(request.getfixturevalue("database")))
            turns = around.enter_context(counted_turns(options["url"]))
            options, alone = {**options, "url": turns.url}, lambda: turns.number

        def open_store() -> Store:
            store = around.enter_context(
                closing(store_engine(request.param, options).open_store(folder, "s"))
            )
            if isinstance(store, SqliteStore):
                store._db.set_trace_callback(asked.append)
            return store

        yield open_store, alone


def alone_in(statements: list[str]) -> int:
    """Return how many statements stood outside of transactions; a transaction counts as one."""
    number, inside = 0, False
    for statement in statements:
        inside = inside or statement.startswith("BEGIN")
        number += not inside or statement.startswith("BEGIN")
        inside = inside and not statement.startswith(("COMMIT", "ROLLBACK"))
    return number


def filter_over(store: Store) -> CandidateFilter:
    def ignore(_: str) -> None:
        """What is rejected does not matter."""

    urls = LinkUrls(UrlPolicy(), ignore)
    return CandidateFilter(urls, CandidateRules(Boundary()), store, wall_time, CandidateListeners(ignore))


def activator_over(store: Store, links: CandidateFilter, queued: list[QueueEntry]) -> RecrawlActivator:
    rules = SimpleNamespace(levels=SimpleNamespace(of=lambda _: 1))
    context = made_context(rules=rules, store=store)
    context.run.mark = RunMark(2, 3.0, mode=RefreshMode.SCRATCH)
    sites: list[str] = []
    return RecrawlActivator(context, links, queued.append, sites.append, lambda _: False)


def in_turns(store: Store) -> Iterator[QueueEntry]:
    """Yield what waits, one of each site after the other, as a crawl asks for it."""
    queues = [iter(store.queue.entries_of(site, 1000)) for site, _ in store.queue.waiting_sites()]
    while queues:
        for queue in list(queues):
            if (entry := next(queue, None)) is None:
                queues.remove(queue)
            else:
                yield entry


@pytest.mark.parametrize("known", [1000, 200_000])
def test_a_flush_of_a_hundred_pages_costs_two_statements_at_any_size(
    opened: tuple[Callable[[], Store], Asked], known: int
) -> None:
    """Each page has 20 links to known URLs anywhere and two new ones; every other one has a new text.

    Near duplicates, the hops of the page and its links, and the errors before this one are asked for as well. The links
    are looked up as in a crawl of all that is known, as in one with a limit of depth, and as in one that requests what
    it finds linked, flush by flush.
    """
    open_store, asked = opened
    store = open_store()
    fill(store, known)
    store.close()
    store = open_store()
    store.begin_run(3.0, "")
    store.visits.enter_cycle(2)
    links, entries, queued = filter_over(store), in_turns(store), list[QueueEntry]()
    activator = activator_over(store, links, queued)
    costs = []
    for turn in range(FLUSHES):
        mode = ("known", "limited", "linked")[turn % 3]
        links.on_late = activator.note_late if mode == "linked" else None
        before = asked()
        batch = list(islice(entries, PAGES))
        assert len(batch) == PAGES
        for entry in batch:
            number = int(entry.url.rpartition("/")[2])
            record = store.records.get_record(entry.key)
            assert record is not None
            changed = number // SITES % 2 == 0
            text = print_of(number + changed * known)
            assert bool(store.records.with_fingerprint(text)) is not changed
            signature = signature_of(number + changed * known)
            assert store.records.nearest_signature(signature, 4) == (None if changed else text)
            store.records.put_signature(text, signature)
            assert store.visits.count_failure(entry.key, RULE) == 1 + (number % 3 == 0)
            store.visits.forget_failures(entry.key)
            hrefs = [url_of((number * 7919 + link * 104_729) % known) for link in range(KNOWN_LINKS)]
            hrefs += [url_of(known + number * NEW_LINKS + link) for link in range(NEW_LINKS)]
            page = LinkPage(entry.url, 2, may_wait=True)
            found, inside = links.admit_resolved(hrefs, page)
            assert (len(found), len(inside)) == (NEW_LINKS, KNOWN_LINKS + NEW_LINKS)
            assert (entry.key in store.queue.hops_to([entry.key, *inside])) is (number % 3 == 0)
            store.queue.put_hops(entry.key, 1)
            done = replace(
                record,
                outcome=UrlOutcome.MODIFIED,
                links=inside.tobytes(),
                fingerprint=text,
                last_fetched=3.0,
            )
            store.records.finish_url(entry, done)
        assert len(links.late) >= min(KNOWN_LINKS * PAGES, known) // 2 or known < 10_000
        if mode == "linked":
            assert links.settle(list(links.late), activator.look_up_late()) == []
        elif mode == "limited":
            assert links.settle(list(links.late), store.records.known_urls(list(links.late))) == []
        else:
            store.records.look_up_later(links.late)
        between = asked()
        store.flush()
        if mode == "known":
            assert links.settle(list(links.late), store.records.looked_up()) == []
        costs.append((between - before, asked() - between))
    assert queued, "some known URLs were met for the first time in the cycle"
    alone = sum(between for between, _ in costs[1:])
    assert alone <= 2 * len(costs[1:]), costs
    if isinstance(
        store, SqliteStore
    ):  # of the other one `postgresql/test_round_trips.py` tells what a flush costs
        assert all(flushing == 1 for _, flushing in costs)
    assert costs[0][0] <= 4 * SITES + 10, (
        "of each site the queue, the records and their twins are read, and what is kept in memory"
    )


DOCUMENTS = 100
"""Feeds, sitemaps of an index, start URLs, and files of a folder: of each kind as many."""
FEW = 30
"""So often a statement may be made alone: for many documents together, or for those there are if they come slowly."""
WEB = {
    "refresh": {"mode": "scratch"},
    "orphans": {"after": 1_000_000},
    "politeness": {"delay": 0, "concurrency": 8},
    "boundary": LOOPBACK,
}


def publish(site: Site, url: str, folder: Path, edition: int) -> None:
    """Have feeds, sitemaps and files name pages, in each edition others of them, and change them."""
    folder.mkdir(exist_ok=True)
    children = []
    for number in range(DOCUMENTS):
        site.page(f"/n{number}", title=f"Page {number}", text=f"word{number * 7919 + edition}")
        (folder / f"{number}.txt").write_text(f"text{number * 7919 + edition} of a file" + "!" * edition)
        named = [f"{url}/n{(number * 7 + place + edition) % DOCUMENTS}" for place in range(20)]
        items = "".join(f"<item><title>entry</title><link>{one}</link></item>" for one in named)
        feed = f"<rss version='2.0'><channel><title>{edition}</title>{items}</channel></rss>"
        site.file(f"/feed{number}.xml", feed.encode(), "application/rss+xml")
        advice = "<priority>0.5</priority>" if number % 2 else ""
        entries = "".join(f"<url><loc>{one}</loc>{advice}</url>" for one in named)
        site.file(f"/map{number}.xml", f"<urlset>{entries}</urlset>".encode(), "application/xml")
        children.append(f"<sitemap><loc>{url}/map{number}.xml</loc></sitemap>")
    site.file("/maps.xml", f"<sitemapindex>{''.join(children)}</sitemapindex>".encode(), "application/xml")


def know_more(store: Store, known: int) -> None:
    """Add URLs that an earlier run met and none requests."""
    store.visits.enter_cycle(1)
    for number in range(known):
        url = url_of(number)
        entry = QueueEntry(url_key(url), url, site_of(url), 1, store.queue.next_seq())
        store.records.discover_url(entry, 1.0, queued=False)
        if number % 20_000 == 0:
            store.flush()
    store.close()


@pytest.mark.processes
@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
@pytest.mark.parametrize("known", [1000, 200_000])
@pytest.mark.parametrize("source", ["site", "files"])
def test_no_feed_sitemap_or_listed_document_costs_a_statement_of_its_own(
    site: Site, url: str, tmp_path: Path, request: pytest.FixtureRequest, engine: str, known: int, source: str
) -> None:
    """In a crawl that finds all, and in one that finds all changed and among many known URLs."""
    with ExitStack() as around:
        options, state = None, {}
        if engine in IN_SERVERS:
            options = around.enter_context(a_schema(request.getfixturevalue("database")))
            state = {"state": {"engine": engine, "url": options["url"], "schema_name": options["schema"]}}
        workspace, folder = Workspace(tmp_path), tmp_path / "files"
        count_statements(tmp_path)
        feeds = {"urls": [f"{url}/feed{number}.xml" for number in range(DOCUMENTS)]}
        maps = {"ttl": 0, "urls": [f"{url}/maps.xml"]}
        web = {"type": "web", "start_urls": [], **WEB, "feeds": feeds, "sitemaps": maps, **OPTIONS}
        files = {"type": "file", "paths": [str(folder)], **OPTIONS}
        workspace.write({**state, "sources": {source: {"site": web, "files": files}[source]}})
        for edition, outcome in enumerate(("NEW", "MODIFIED")):
            publish(site, url, folder, edition)
            if edition:
                place = tmp_path / "var" / "state"
                know_more(store_engine(engine, options).open_store(place, source), known)
            assert workspace.crawl(timeout=500).run["outcomes"][outcome] == DOCUMENTS
            told = statements_of(tmp_path)
            assert told.alone, "what is counted is a store that is asked"
            often = {form: number for form, number in told.repeated.items() if number > FEW}
            assert not often, often


def test_many_sites_in_turn_do_not_read_their_records_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records that would be read ahead for all sites together are more than are kept."""
    monkeypatch.setattr(read_ahead, "MAX_CACHED_RECORDS", 2000)
    store, sites, pages = SqliteStore(":memory:", "s"), 150, 12_000
    store.begin_run(1.0, "")
    for number in range(pages):
        url = f"http://h{number % sites}.example/{number}"
        store.records.discover_url(
            QueueEntry(url_key(url), url, site_of(url), 1, store.queue.next_seq()), 1.0
        )
    store.flush()
    store._access.record_cache.invalidate()
    queues = [store.queue.entries_of(site, pages) for site, _ in store.queue.waiting_sites()]
    statements: list[str] = []
    store._db.set_trace_callback(statements.append)
    for entries in zip(*queues, strict=True):
        for entry in entries:
            record = store.records.get_record(entry.key)
            assert record is not None
            store.records.finish_url(entry, record)
    assert len(statements) <= pages // 5
    store.close()
