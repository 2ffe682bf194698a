"""Sitemaps at the frontier: they go ahead of the pages of their site, which wait, and need not be asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ultracrawl.crawl import CrawlSession
from ultracrawl.crawl.recorder import EXPIRES
from ultracrawl.rules.frontier import Frontier
from ultracrawl.rules.recrawl import vouches
from ultracrawl.rules.urls import site_of, url_key
from ultracrawl.scheduler.candidate_filter import CandidateFilter
from ultracrawl.stores import QueueEntry

LARGEST_SITEMAP = 50 << 20
"""Bytes of a sitemap, as the protocol allows; pages have limits of their own."""
OTHER_SITE = "sitemap entry of another site"


class Ways(NamedTuple):
    """What the gate asks of the scheduler."""

    take: Callable[[Iterable[QueueEntry]], None]
    """Queue entries that admission let in."""
    wake: Callable[[float], None]
    """Look again for the next request in so many seconds."""
    must_ask: Callable[[int], bool]
    """Whether the URL of a key has to be fetched, for reasons of this run."""
    is_spent: Callable[[str], bool]
    """Whether nothing more of a site may be fetched."""
    near: Callable[[Iterable[int]], None]
    """Take note that URLs (by key) are named by a sitemap, whatever else leads to them."""


class SitemapBarrier:
    """Lets pages pass or wait; the `SitemapManager` of the session decides, this carries it out."""

    def __init__(
        self, session: CrawlSession, frontier: Frontier[QueueEntry], admission: CandidateFilter, ways: Ways
    ) -> None:
        self._session = session
        self._desk = session.sitemaps
        self._frontier = frontier
        self._admission = admission
        self._ways = ways

    # ---- pages on their way out

    def rules_known(self, entry: QueueEntry) -> bool:
        """Whether robots.txt is known as far as it is needed; one that is not obeyed may name sitemaps."""
        robots = self._session.robots
        if not robots.ready(entry.url):
            return False
        named_there = self._desk.discovers and self._desk.unmet(entry)
        return not named_there or robots.known(entry.url) is not None

    def keeps(self, entry: QueueEntry) -> bool:
        """Have the sitemaps of a site looked for; if its pages wait for them, they are put back, this one too."""
        if not self._desk.unmet(entry):
            return False
        if not self._desk.meet(entry, self._session.robots.known(entry.url)):
            return False
        self._frontier.clocks.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)
        for waiting in self._frontier.entries.withdraw_site(entry.site):
            if not waiting.seq:  # what stands in the store comes back from there
                self._frontier.entries.add_first(waiting)
        return True

    def asked(self, entries: list[QueueEntry]) -> list[QueueEntry]:
        """Leave out the pages that have their outcome by the word of a sitemap."""
        if not self._session.context.store.sites.dates_announced or not self._desk.trusts_dates:
            return entries
        dates = self._session.context.store.sites.announced_dates([entry.key for entry in entries])
        return [
            one for one in entries if one.key not in dates or not self._is_vouched_for(one, dates[one.key])
        ]

    def _is_vouched_for(self, entry: QueueEntry, latest: int) -> bool:
        session = self._session
        if self._ways.must_ask(entry.key):
            return False
        record = session.context.store.records.get_record(entry.key)
        if record is None or not record.indexed or record.leaving or record.reason == EXPIRES:
            return False
        rules = session.robots.known(entry.url)
        if session.context.rules.robots.obey and (rules is None or rules.blocks(entry.url)):
            return False
        if not vouches(latest, record, session.context.clock()):
            return False
        session.context.endings.not_asked(entry, record)
        return True

    # ---- what the reader of sitemaps asks for (`SitemapQueue`)

    def enter(
        self, parent: str, hrefs: Iterable[str], sites: set[str] | None
    ) -> tuple[dict[str, int], set[int]]:
        """Queue the entries of the sitemap `parent` that are new, inside the boundary and of one of `sites`.

        A sitemap stands beside the start URLs, so its entries are one step from there.
        """
        located = self._admission.located(hrefs, parent)
        if sites is not None:
            mine = {href: url for href, url in located.items() if site_of(url) in sites}
            if len(mine) < len(located):
                self._session.context.report.rejected_by[OTHER_SITE] += len(located) - len(mine)
            located = mine
        entries, inside = self._admission.admit_located(located.values(), parent, 1)
        self._ways.take(entries)
        self._ways.near(inside)
        kept = set(inside)
        keys = ((href, url_key(url)) for href, url in located.items())
        return {href: key for href, key in keys if key in kept}, {entry.key for entry in entries}

    def first(self, entry: QueueEntry, *, noted: bool) -> None:
        """Have a sitemap asked for before the pages of its site; if it is `noted`, links to it lead to no page."""
        if noted:
            self._admission.note(entry.key)
        if self._ways.is_spent(entry.site):
            self._desk.abandon(entry.key)
            return
        self._frontier.entries.add_first(entry)
        self._ways.wake(0.0)

    def release(self, site: str) -> None:
        """Let the pages of a site out that waited for its sitemaps."""
        self._frontier.entries.leave_stored(site)
        self._ways.wake(0.0)
