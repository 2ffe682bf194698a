"""Finds the sitemaps of a run, queues them, and decides which sites' pages they may list."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.change import proves_unchanged
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import path_of, site_of, url_key
from ultracrawl.run.discovery.held_pages import HeldPages
from ultracrawl.run.discovery.stored_sitemaps import StoredSitemaps
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import SitemapJob, Visit
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

DEFAULT_PATH = "/sitemap.xml"
BAD_URL = "sitemap without a URL that can be fetched"
MAX_LEVEL = 3
"""Limit of nested sitemap indexes above a sitemap."""
OTHER_HOST = "sitemap of another host"
TOO_DEEP = f"sitemaps nested deeper than {MAX_LEVEL}"


class SitemapManager(Feature):
    """Finds sitemaps, queues them ahead of all pages, and holds back known pages until they are read.

    A sitemap is found in the robots.txt of a site when its first page is due, at the default path of a start site, in
    the definition, or in an index. It may list pages of its own site and of the sites whose robots.txt names it (the
    cross-submission rule of sitemaps.org); one in the definition may list any. Sitemaps are not in the stored queue:
    each run finds them anew.
    """

    def __init__(self, context: CrawlContext, is_adaptive: Callable[[], bool]) -> None:
        """Initialise; `is_adaptive` returns whether pages are chosen by score, which uses the dates of sitemaps."""
        self._context = context
        self._section = context.source.sitemaps
        self.on = self._section.use and (self._section.discover or bool(self._section.urls))
        self.discovers = self.on and self._section.discover
        """Whether robots.txt is fetched for the sitemaps that it names, obeyed or not."""
        self._starts = frozenset(map(site_of, context.rules.trusted_urls))
        self._form = context.rules.url_policy.without_rewriting
        self._discovered_sites: set[str] = set()
        self._jobs: dict[int, SitemapJob] = {}
        self._known: frozenset[int] = frozenset()
        self._rules = SitemapRules(context)
        self._holds_pages = False
        self._waiting = HeldPages(self._release_site)
        self.stored_sitemaps = StoredSitemaps(context, self, self._waiting.stop_waiting, is_adaptive)
        self.waiting_sites = self._waiting.sites
        """Sites whose pages wait in the store."""

    def queue_opened(self) -> None:
        """Queue the sitemaps of the definition; a source without sitemaps drops those that are stored."""
        context = self._context
        self._known = context.store.sites.sitemap_keys()
        if not self.on:
            if self._known:
                context.store.drop_urls(self._known)
            return
        self._holds_pages = self.trusts_dates and (context.counters.scheduled > 0 or context.mark.number > 1)
        for url in self._section.urls:
            self.announce(url, None, SitemapJob(None))

    @property
    def trusts_dates(self) -> bool:
        """Whether this run skips pages that sitemaps report as unchanged."""
        return self.stored_sitemaps.trusts_dates

    # ---- discovery

    def needs_discovery(self, entry: QueueEntry) -> bool:
        """Return whether the sitemaps of the site of this page have to be looked for before the page is fetched."""
        return self.on and entry.site not in self._discovered_sites and entry.key not in self._jobs

    def discover_sitemaps(self, entry: QueueEntry, rules: RobotsRules | None) -> bool:
        """Look for the sitemaps of a site; returns whether its pages have to wait for them.

        `rules` is None where robots.txt is not fetched.
        """
        site = entry.site
        self._discovered_sites.add(site)
        if self.discovers and rules is not None:
            self._announce_for_site(site, entry.url[: -len(path_of(entry.url))], rules)
        return self._holds_pages and self._waiting.hold_site(site)

    def _announce_for_site(self, site: str, origin: str, rules: RobotsRules) -> None:
        for href in rules.sitemaps:
            self.announce(href, origin + "/", SitemapJob({site}))
        default_url = origin + DEFAULT_PATH
        guess = not rules.sitemaps and site in self._starts and not rules.blocks(default_url)
        if guess and not self.stored_sitemaps.was_guessed_recently(default_url):
            self.announce(default_url, None, SitemapJob({site}, tentative=True))

    def announce(self, href: str, base: str | None, job: SitemapJob, hops: int = 0) -> int | None:
        """Queue a sitemap unless this run has it already; returns its key, or None if it is excluded."""
        url = self._form.canonical(href, base)
        rule = BAD_URL if url is None else self._rules.refusal(url, job)
        if rule is not None or url is None:
            self._rules.note_refusal(href, rule or BAD_URL, job)
            return None
        key = url_key(url)
        known = self._jobs.get(key)
        if known is not None:
            self._extend(key, url, known, job)
            return key
        if len(self._jobs) >= self._section.files:
            self._rules.note_refusal(url, f"sitemaps.files {self._section.files}", job)
            return None
        if key not in self._known and self._rules.stays_page(key):
            return None
        if job.sites is not None:
            job.sites.add(site_of(url))
        self._jobs[key] = job
        self._start_job(key, url, job, hops)
        return key

    def _start_job(self, key: int, url: str, job: SitemapJob, hops: int) -> None:
        stored = self._context.store.sites.get_sitemap(key)
        known = {} if stored is not None else self._context.store.records.known_urls([key])
        is_new = stored is None and not known
        if known and known[key][0] != url:
            self._context.run.note_shared_key(url, known[key][0])
        job.tentative = job.tentative and is_new
        if stored is not None and stored.run == self._context.mark.number:
            self._resume(key, url, job, stored)
        elif stored is not None and self._requeue_recent(key, url, job, stored):
            pass
        elif stored is not None or is_new:
            self._waiting.wait_for(job)
            self._context.queue.queue_sitemap(
                QueueEntry(key, url, site_of(url), 0, 0, hops), noted=not job.tentative
            )
        # Otherwise the URL is queued as a page (of another type): it is read as a sitemap in its turn.

    def _requeue_recent(self, key: int, url: str, job: SitemapJob, stored: StoredSitemap) -> bool:
        """Requeue the stored entries of a recently read sitemap; returns False if it has to be fetched."""
        record = self._context.store.records.get_record(key)
        if record is None or not self.stored_sitemaps.is_recent(record):
            return False
        self._waiting.wait_for(job)
        self.stored_sitemaps.record_unchanged(key, url, record, stored)
        job.stored = stored
        self.stored_sitemaps.start_requeue(job, record, stored)
        return True

    def _resume(self, key: int, url: str, job: SitemapJob, stored: StoredSitemap) -> None:
        """Treat a sitemap as read that this run read before it was interrupted."""
        if stored.is_index:
            record = self._context.store.records.get_record(key)
            children = self.stored_sitemaps.entries(record, stored)
            self.stored_sitemaps.expect((child for child, _ in children), url)
            for child, _ in children:
                self.announce(child, url, job.child())

    def _extend(self, key: int, url: str, known: SitemapJob, other: SitemapJob) -> None:
        """Allow a sitemap to list pages of further sites; if it was read already, it is read again."""
        known.tentative = known.tentative and other.tentative
        if known.sites is None or other.sites is None or other.sites <= known.sites:
            return
        new = other.sites - known.sites
        known.sites |= new
        if known.pending:
            self._waiting.add_sites(known, new)
        elif known.stored is not None:
            known.reread = True
            self._waiting.wait_for(known)
            self._context.queue.queue_sitemap(QueueEntry(key, url, site_of(url), 0, 0), noted=True)

    def _release_site(self, site: str) -> None:
        self._context.queue.release_site(site)

    # ---- reading

    def job_of(self, key: int) -> SitemapJob | None:
        """Return the job of a URL that this run reads as a sitemap."""
        return self._jobs.get(key) if self._jobs else None

    def skip_unchanged(
        self, href: str, base: str, job: SitemapJob, latest: int
    ) -> tuple[int, UrlRecord, StoredSitemap] | None:
        """Return a sitemap that its index reports as unchanged, and record that; None if it has to be fetched."""
        url = self._form.canonical(href, base)
        key = 0 if url is None else url_key(url)
        stored = self._context.store.sites.get_sitemap(key) if key in self._known else None
        if not latest or url is None or stored is None or key in self._jobs or not self.trusts_dates:
            return None
        record = self._context.store.records.get_record(key)
        if (
            record is None
            or self._rules.refusal(url, job)
            or not proves_unchanged(latest, record, self._context.clock())
        ):
            return None
        self._jobs[key] = job
        self.stored_sitemaps.record_unchanged(key, url, record, stored)
        return key, record, stored

    def follow_redirect(self, visit: Visit, location: str, base: str) -> None:
        """Follow the redirect of a sitemap: the target may list pages of the same sites."""
        job = visit.sitemap
        assert job is not None
        hops = visit.entry.hops + 1
        target = None
        if hops <= self._context.source_at(visit.url).limits.redirects:
            sites = None if job.sites is None else set(job.sites)
            target = self.announce(location, base, SitemapJob(sites, job.level, job.tentative), hops)
        outcome = UrlOutcome.REJECTED if target is None else UrlOutcome.REDIRECTED
        cause = Cause(CauseCode.REDIRECT, location[:500])
        self._context.endings.end_visit(visit, Ending(outcome, StatusCode.HTTP_REDIRECT, cause))

    # ---- ends of visits

    def end_visit(self, visit: Visit) -> None:
        """Store the outcome of a sitemap, and release the pages that waited for it."""
        job = visit.sitemap
        if job is None:
            return
        if visit.outcome is not None:
            self.stored_sitemaps.store_outcome(visit, visit.outcome, job)
        elif job.tentative and 200 <= visit.fetch.status < 500:
            self.stored_sitemaps.note_guess(visit.url)
        self._waiting.stop_waiting(job)

    def abandon(self, key: int) -> None:
        """Release the pages that wait for a sitemap that will not be fetched."""
        self._waiting.stop_waiting(self._jobs[key])


class SitemapEndings(Feature):
    """Passes on that a sitemap ended, after its visit has given back its place: then pages of the site are released."""

    def __init__(self, end_visit: Callable[[Visit], None]) -> None:
        self._end_visit = end_visit

    def visit_ended(self, visit: Visit) -> None:
        """Have the pages released that waited for a sitemap."""
        if visit.sitemap is not None:
            self._end_visit(visit)


class SitemapRules:
    """Excludes sitemaps by nesting, host, and the boundary of the source."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context

    def refusal(self, url: str, job: SitemapJob) -> str | None:
        """Return the rule that excludes a sitemap, or None.

        Of the boundary only exclusions apply: inclusions are about pages.
        """
        if job.level > MAX_LEVEL:
            return TOO_DEEP
        if job.level and job.sites is not None and site_of(url) not in job.sites:
            return OTHER_HOST
        return self._context.rules.boundary.exclusion(url)

    def note_refusal(self, href: str, rule: str, job: SitemapJob) -> None:
        """Count and log a sitemap that is not read, unless its URL was a guess."""
        if not job.tentative:
            self._context.counters.count_excluded(rule)
            logger.info("sitemap not read: %.500s (%s)", href, rule)

    def stays_page(self, key: int) -> bool:
        """Return whether a URL is known as a page of this source, so that it is not read as a sitemap."""
        record = self._context.store.records.get_record(key)
        return record is not None and record.status_code != StatusCode.WRONG_TYPE
