"""Which sitemaps a run reads, and whose pages they may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.crawl.discovery.held_pages import HeldPages
from ultracrawl.crawl.discovery.sitemap_echo import SitemapEcho
from ultracrawl.crawl.discovery.sitemap_rules import SitemapRules
from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.hooks import Feature
from ultracrawl.crawl.visit import SitemapJob, Visit
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.change import vouches
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import path_of, site_of, url_key
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext

USUAL_PLACE = "/sitemap.xml"
BAD_URL = "sitemap without a URL that can be fetched"


class SitemapManager(Feature):
    """Finds sitemaps, queues them ahead of all pages, and holds back known pages until they are read.

    A sitemap is found in the robots.txt of a site whose first page has its turn, at the usual place of a start
    site, in the definition, or in an index. It may name pages of its own site and of those whose robots.txt
    named it (the cross-submission rule of sitemaps.org); one in the definition may name any. Sitemaps are not in
    the stored queue: a run asks for those that are found anew.
    """

    def __init__(self, context: CrawlContext, is_adaptive: Callable[[], bool]) -> None:
        """`is_adaptive` tells whether pages are chosen by score in this run, which uses the dates of sitemaps."""
        self._context = context
        self._section = context.source.sitemaps
        self.on = self._section.use and (self._section.discover or bool(self._section.urls))
        self.discovers = self.on and self._section.discover
        """Whether robots.txt is asked for the sitemaps that it names, obeyed or not."""
        self._starts = frozenset(map(site_of, context.rules.trusted_urls))
        self._form = context.rules.url_policy.without_rewriting
        self._met: set[str] = set()
        self._tasks: dict[int, SitemapJob] = {}
        self._known: frozenset[int] = frozenset()
        self._rules = SitemapRules(context)
        self._holds = False
        self._waiting = HeldPages(self._release_site)
        self.echo = SitemapEcho(context, self, self._waiting.stop_waiting, is_adaptive)
        self.waiting_sites = self._waiting.sites
        """Sites whose pages wait in the store."""

    def queue_opened(self) -> None:
        """Queue the sitemaps of the definition; a source without sitemaps deletes what is stored of earlier ones."""
        context = self._context
        self._known = context.store.sites.sitemap_keys()
        if not self.on:
            if self._known:
                context.store.drop_urls(self._known)
            return
        context.hooks.visit_ended.append(self._note_end)
        self._holds = self.trusts_dates and (context.counters.scheduled > 0 or context.mark.number > 1)
        for url in self._section.urls:
            self.announce(url, None, SitemapJob(None))

    @property
    def trusts_dates(self) -> bool:
        """Whether this run skips pages that sitemaps say are unchanged."""
        return self.echo.trusts_dates

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
        return self._holds and self._waiting.hold_site(site)

    def _discover(self, site: str, origin: str, rules: RobotsRules) -> None:
        for href in rules.sitemaps:
            self.announce(href, origin + "/", SitemapJob({site}))
        place = origin + USUAL_PLACE
        guess = not rules.sitemaps and site in self._starts and not rules.blocks(place)
        if guess and not self.echo.was_guessed(place):
            self.announce(place, None, SitemapJob({site}, tentative=True))

    def announce(self, href: str, base: str | None, task: SitemapJob, hops: int = 0) -> int | None:
        """Queue a sitemap unless this run reads it already; returns its key, or None if it is refused."""
        url = self._form.canonical(href, base)
        rule = BAD_URL if url is None else self._rules.refusal(url, task)
        if rule is not None or url is None:
            self._rules.note_refusal(href, rule or BAD_URL, task)
            return None
        key = url_key(url)
        known = self._tasks.get(key)
        if known is not None:
            self._extend(key, url, known, task)
            return key
        if len(self._tasks) >= self._section.files:
            self._rules.note_refusal(url, f"sitemaps.files {self._section.files}", task)
            return None
        if key not in self._known and self._rules.stays_page(key):
            return None
        if task.sites is not None:
            task.sites.add(site_of(url))
        self._tasks[key] = task
        self._take_up(key, url, task, hops)
        return key

    def _take_up(self, key: int, url: str, task: SitemapJob, hops: int) -> None:
        stored = self._context.store.sites.get_sitemap(key) if key in self._known else None
        is_new = stored is None and not self._context.store.records.known_urls([key])
        task.tentative = task.tentative and is_new
        if stored is not None and stored.run == self._context.mark.number:
            self._resume(key, url, task, stored)
        elif stored is not None and self._recall(key, url, task, stored):
            pass
        elif stored is not None or is_new:
            self._waiting.wait_for(task)
            self._context.queue.queue_sitemap(
                QueueEntry(key, url, site_of(url), 0, 0, hops), noted=not task.tentative
            )
        # Else it is in the queue as a page that was none: it is read as a sitemap in its turn.

    def _recall(self, key: int, url: str, task: SitemapJob, stored: StoredSitemap) -> bool:
        """Repeat a sitemap that was read a short time ago; False if it has to be fetched."""
        record = self._context.store.records.get_record(key)
        if record is None or not self.echo.is_young(record):
            return False
        self._waiting.wait_for(task)
        self.echo.take_as_read(key, url, record, stored)
        task.stored = stored
        self.echo.begin(task, record, stored)
        return True

    def _resume(self, key: int, url: str, task: SitemapJob, stored: StoredSitemap) -> None:
        """Treat a sitemap as read that this run read before it was interrupted."""
        if stored.is_index:
            record = self._context.store.records.get_record(key)
            for child, _ in self.echo.entries(record, stored):
                self.announce(child, url, task.child())

    def _extend(self, key: int, url: str, known: SitemapJob, other: SitemapJob) -> None:
        """Allow a sitemap to name pages of further sites; one that was read already is read again."""
        known.tentative = known.tentative and other.tentative
        if known.sites is None or other.sites is None or other.sites <= known.sites:
            return
        new = other.sites - known.sites
        known.sites |= new
        if known.pending:
            self._waiting.add_sites(known, new)
        elif known.stored is not None:
            known.again = True
            self._waiting.wait_for(known)
            self._context.queue.queue_sitemap(QueueEntry(key, url, site_of(url), 0, 0), noted=True)

    def _release_site(self, site: str) -> None:
        self._context.queue.release_site(site)

    # ---- reading

    def task(self, key: int) -> SitemapJob | None:
        """Return the task of a URL that this run reads as a sitemap."""
        return self._tasks.get(key) if self._tasks else None

    def skips(
        self, href: str, base: str, task: SitemapJob, latest: int
    ) -> tuple[int, UrlRecord, StoredSitemap] | None:
        """Return a sitemap that its index says has not changed, so that it is not fetched; None if it has to be."""
        url = self._form.canonical(href, base)
        key = 0 if url is None else url_key(url)
        stored = self._context.store.sites.get_sitemap(key) if key in self._known else None
        if not latest or url is None or stored is None or key in self._tasks or not self.trusts_dates:
            return None
        record = self._context.store.records.get_record(key)
        if (
            record is None
            or self._rules.refusal(url, task)
            or not vouches(latest, record, self._context.clock())
        ):
            return None
        self._tasks[key] = task
        self.echo.take_as_read(key, url, record, stored)
        return key, record, stored

    def follow_redirect(self, visit: Visit, location: str, base: str) -> None:
        """Follow the redirect of a sitemap: what it leads to may name pages of the same sites."""
        task = visit.sitemap
        assert task is not None
        hops = visit.entry.hops + 1
        target = None
        if hops <= self._context.source.limits.redirects:
            sites = None if task.sites is None else set(task.sites)
            target = self.announce(location, base, SitemapJob(sites, task.level, task.tentative), hops)
        outcome = UrlOutcome.REJECTED if target is None else UrlOutcome.REDIRECTED
        cause = Cause(CauseCode.REDIRECT, location[:500])
        self._context.endings.end_visit(visit, Ending(outcome, StatusCode.HTTP_REDIRECT, cause))

    # ---- the ends of visits

    def _note_end(self, visit: Visit) -> None:
        """Note how the visit of a sitemap ended, and release the pages that waited for it."""
        task = visit.sitemap
        if task is None:
            return
        if visit.outcome is not None:
            self.echo.note_end(visit, visit.outcome, task)
        elif task.tentative and 200 <= visit.fetch.status < 500:
            self.echo.note_guess(visit.url)
        self._waiting.stop_waiting(task)

    def abandon(self, key: int) -> None:
        """Release the pages that wait for a sitemap that will not be fetched."""
        self._waiting.stop_waiting(self._tasks[key])
