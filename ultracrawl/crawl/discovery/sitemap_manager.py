"""Which sitemaps a run reads, whose pages they may name, and which pages wait until they are read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.discovery.sitemap_echo import SitemapEcho
from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.visit import Visit
from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl import vouches
from ultracrawl.rules.robots import RobotsRules
from ultracrawl.rules.urls import path_of, site_of, url_key
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from ultracrawl.crawl.session import CrawlSession

logger = logging.getLogger(__name__)

USUAL_PLACE = "/sitemap.xml"
DEEPEST = 3
"""Indexes that may stand above a sitemap, one in the other."""
OTHER_HOST = "sitemap of another host"
BAD_URL = "sitemap without a URL that can be fetched"
TOO_DEEP = f"sitemaps nested deeper than {DEEPEST}"


@dataclass(slots=True)
class SitemapJob:
    """A sitemap that this run has read, or is going to."""

    sites: set[str] | None
    """Sites whose pages it may name; None is every site. Their known pages wait until it is read."""
    level: int = 0
    """Indexes above it."""
    tentative: bool = False
    """Nobody named it; unless there turns out to be a sitemap, nothing is recorded."""
    pending: bool = False
    again: bool = False
    """It was read before it was known that it may name pages of another site, too."""
    stored: StoredSitemap | None = field(default=None, repr=False)
    """What it holds, once it was read."""


class SitemapManager(Feature):
    """Finds sitemaps, gives them to the queue ahead of all pages, and holds back known pages meanwhile.

    A sitemap is found in the robots.txt of a site whose first page has its turn, at the usual place of a start
    site, in the definition, or in an index. It may name pages of its own site and of those whose robots.txt
    named it (the cross-submission rule of sitemaps.org); one in the definition may name any. Sitemaps are not in
    the stored queue: a run asks for those that are found anew.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._section = session.context.source.sitemaps
        self.on = self._section.use and (self._section.discover or bool(self._section.urls))
        self.discovers = self.on and self._section.discover
        """Whether robots.txt is asked for the sitemaps that it names, obeyed or not."""
        self._starts = frozenset(map(site_of, session.context.rules.own))
        self._form = session.context.rules.url_policy.without_rewriting
        self._met: set[str] = set()
        self._tasks: dict[int, SitemapJob] = {}
        self._known: frozenset[int] = frozenset()
        self._pending: Counter[str] = Counter()
        self._pending_for_all = 0
        self._holds = False
        self.echo = SitemapEcho(session)
        self.held: set[str] = set()
        """Sites whose pages wait in the store."""

    def queue_opened(self) -> None:
        """Take up the sitemaps of the definition; a source without sitemaps forgets those of earlier runs."""
        session = self._session
        self._known = session.context.store.sites.sitemap_keys()
        if not self.on:
            if self._known:
                session.context.store.drop_urls(self._known)
            return
        session.context.hooks.visit_ended.append(self._finished)
        self._holds = self.trusts_dates and (
            session.context.report.scheduled > 0 or session.context.mark.number > 1
        )
        for url in self._section.urls:
            self.announce(url, None, SitemapJob(None))

    @property
    def trusts_dates(self) -> bool:
        """Whether pages are skipped in this run by the word of sitemaps."""
        adaptive = self._session.chooser is not None  # there its sitemap has had its say in the score
        return self._section.trust_lastmod and not self._session.context.run.rescan and not adaptive

    # ---- finding

    def unmet(self, entry: QueueEntry) -> bool:
        """Whether the sitemaps of the site of this page have to be looked for before it is fetched."""
        return self.on and entry.site not in self._met and entry.key not in self._tasks

    def meet(self, entry: QueueEntry, rules: RobotsRules | None) -> bool:
        """Look for the sitemaps of a site; returns whether its pages, this one too, have to wait for them.

        `rules` is None where robots.txt is not asked for.
        """
        site = entry.site
        self._met.add(site)
        if self.discovers and rules is not None:
            self._discover(site, entry.url[: -len(path_of(entry.url))], rules)
        if not self._holds or not (self._pending[site] or self._pending_for_all):
            return False
        self.held.add(site)
        return True

    def _discover(self, site: str, origin: str, rules: RobotsRules) -> None:
        for href in rules.sitemaps:
            self.announce(href, origin + "/", SitemapJob({site}))
        place = origin + USUAL_PLACE
        guess = not rules.sitemaps and site in self._starts and not rules.blocks(place)
        if guess and not self.echo.was_guessed(place):
            self.announce(place, None, SitemapJob({site}, tentative=True))

    def announce(self, href: str, base: str | None, task: SitemapJob, hops: int = 0) -> int | None:
        """Have a sitemap read, unless this run reads it already; returns its key, or None if it is refused."""
        url = self._form.canonical(href, base)
        rule = BAD_URL if url is None else self._refusal(url, task)
        if rule is not None or url is None:
            self._refuse(href, rule or BAD_URL, task)
            return None
        key = url_key(url)
        known = self._tasks.get(key)
        if known is not None:
            self._extend(key, url, known, task)
            return key
        if len(self._tasks) >= self._section.files:
            self._refuse(url, f"sitemaps.files {self._section.files}", task)
            return None
        if key not in self._known and self._stays_page(key):
            return None
        if task.sites is not None:
            task.sites.add(site_of(url))
        self._tasks[key] = task
        self._take_up(key, url, task, hops)
        return key

    def _stays_page(self, key: int) -> bool:
        """Whether a URL is known as a page, and not as one of a type that is no page for this source."""
        record = self._session.context.store.records.get_record(key)
        return record is not None and record.status_code != StatusCode.WRONG_TYPE

    def _take_up(self, key: int, url: str, task: SitemapJob, hops: int) -> None:
        stored = self._session.context.store.sites.get_sitemap(key) if key in self._known else None
        is_new = stored is None and not self._session.context.store.records.known_urls([key])
        task.tentative = task.tentative and is_new
        if stored is not None and stored.run == self._session.context.mark.number:
            self._resume(key, url, task, stored)
        elif stored is not None and self._recall(key, url, task, stored):
            pass
        elif stored is not None or is_new:
            self._wait_for(task, task.sites)
            self._session.context.queue.queue_sitemap(
                QueueEntry(key, url, site_of(url), 0, 0, hops), noted=not task.tentative
            )
        # Else it is in the queue as a page that was none: it is read as a sitemap in its turn.

    def _recall(self, key: int, url: str, task: SitemapJob, stored: StoredSitemap) -> bool:
        """Have a sitemap say again what it said a short time ago; False if it has to be asked for."""
        record = self._session.context.store.records.get_record(key)
        if record is None or not self.echo.is_young(record):
            return False
        self._wait_for(task, task.sites)
        self._take_as_read(key, url, record, stored)
        task.stored = stored
        self.echo.begin(task, record, stored)
        return True

    def _take_as_read(self, key: int, url: str, record: UrlRecord, stored: StoredSitemap) -> None:
        self._session.context.report.scheduled += 1
        self._session.context.endings.not_asked(QueueEntry(key, url, site_of(url), 0, 0), record)
        self._session.context.store.sites.put_sitemap(
            key, replace(stored, run=self._session.context.mark.number)
        )

    def _resume(self, key: int, url: str, task: SitemapJob, stored: StoredSitemap) -> None:
        """Take a sitemap for read that was read before this run was interrupted."""
        if stored.is_index:
            record = self._session.context.store.records.get_record(key)
            for child, _ in self.entries(record, stored):
                self.announce(child, url, self.child_of(task))

    def _extend(self, key: int, url: str, known: SitemapJob, other: SitemapJob) -> None:
        """Let a sitemap name pages of further sites; one that was read already is read again."""
        known.tentative = known.tentative and other.tentative
        if known.sites is None or other.sites is None or other.sites <= known.sites:
            return
        new = other.sites - known.sites
        known.sites |= new
        if known.pending:
            self._pending.update(new)
        elif known.stored is not None:
            known.again = True
            self._wait_for(known, known.sites)
            self._session.context.queue.queue_sitemap(QueueEntry(key, url, site_of(url), 0, 0), noted=True)

    def _refusal(self, url: str, task: SitemapJob) -> str | None:
        """Return the rule that keeps a sitemap from being read: inclusions do not count, they are about pages."""
        if task.level > DEEPEST:
            return TOO_DEEP
        if task.level and task.sites is not None and site_of(url) not in task.sites:
            return OTHER_HOST
        for decision in self._session.context.rules.boundary.decisions(url):
            if not decision.accept and (decision.stage == "scheme" or decision.rule.startswith("exclude")):
                return decision.rule
        return None

    def _refuse(self, href: str, rule: str, task: SitemapJob) -> None:
        if not task.tentative:
            self._session.context.report.rejected_by[rule] += 1
            logger.info("sitemap not read: %.500s (%s)", href, rule)

    @staticmethod
    def child_of(task: SitemapJob) -> SitemapJob:
        """Return the task for an entry of an index; it may name pages of the same sites."""
        return SitemapJob(None if task.sites is None else set(task.sites), task.level + 1)

    # ---- reading

    def task(self, key: int) -> SitemapJob | None:
        """Return the task of a URL that this run reads as a sitemap."""
        return self._tasks.get(key) if self._tasks else None

    def entries(self, record: UrlRecord | None, stored: StoredSitemap) -> list[tuple[str, int]]:
        """Return what a sitemap held when it was read last: URL and date (0 for none) of each entry still known."""
        if record is None:
            return []
        dates = dict(stored.entries(record.links))
        known = self._session.context.store.records.known_urls(list(dates))
        return [(known[key][0], date) for key, date in dates.items() if key in known]

    def skips(
        self, href: str, base: str, task: SitemapJob, latest: int
    ) -> tuple[int, UrlRecord, StoredSitemap] | None:
        """Take a sitemap for read that its index says has not changed since; None if it has to be asked for."""
        url = self._form.canonical(href, base)
        key = 0 if url is None else url_key(url)
        stored = self._session.context.store.sites.get_sitemap(key) if key in self._known else None
        if not latest or url is None or stored is None or key in self._tasks or not self.trusts_dates:
            return None
        record = self._session.context.store.records.get_record(key)
        if (
            record is None
            or self._refusal(url, task)
            or not vouches(latest, record, self._session.context.clock())
        ):
            return None
        self._tasks[key] = task
        self._take_as_read(key, url, record, stored)
        return key, record, stored

    def redirected(self, visit: Visit, location: str, base: str) -> None:
        """Follow the redirect of a sitemap: what it leads to may name pages of the same sites."""
        task = visit.sitemap
        assert task is not None
        hops = visit.entry.hops + 1
        target = None
        if hops <= self._session.context.source.limits.redirects:
            sites = None if task.sites is None else set(task.sites)
            target = self.announce(location, base, SitemapJob(sites, task.level, task.tentative), hops)
        outcome = UrlOutcome.REJECTED if target is None else UrlOutcome.REDIRECTED
        self._session.context.endings.finish(visit, outcome, StatusCode.HTTP_REDIRECT, f"to {location:.500}")

    # ---- waiting

    def _wait_for(self, task: SitemapJob, sites: Iterable[str] | None) -> None:
        task.pending = True
        if sites is None:
            self._pending_for_all += 1
        else:
            self._pending.update(sites)

    def _finished(self, visit: Visit) -> None:
        """Note how the visit of a sitemap ended, and let the pages go that waited for it."""
        task = visit.sitemap
        if task is None:
            return
        if visit.outcome is not None:
            self._note(visit, visit.outcome, task)
        elif task.tentative and 200 <= visit.status < 500:
            self.echo.note_guess(visit.url)
        self.over(task)

    def _note(self, visit: Visit, outcome: UrlOutcome, task: SitemapJob) -> None:
        session, key, run = self._session, visit.entry.key, self._session.context.mark.number
        if not visit.entry.seq:
            session.context.report.scheduled += 1
        stored = task.stored
        if stored is None and (outcome.transient or outcome in _UNCHANGED):
            stored = session.context.store.sites.get_sitemap(key)
        session.context.report.sitemaps += task.stored is not None
        session.context.store.sites.put_sitemap(key, replace(stored or StoredSitemap(run), run=run))

    def abandon(self, key: int) -> None:
        """Let nothing wait any more for a sitemap that is not going to be asked for."""
        self.over(self._tasks[key])

    def over(self, task: SitemapJob) -> None:
        """Take note that nothing more comes of a sitemap: pages go on whose last one this was."""
        if not task.pending:
            return
        task.pending = False
        if task.sites is None:
            self._pending_for_all -= 1
        else:
            self._pending.subtract(task.sites)
        if self._pending_for_all:
            return
        for site in [site for site in (task.sites or self.held) if site in self.held]:
            if not self._pending[site]:
                self.held.discard(site)
                self._session.context.queue.release_site(site)


_UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})
