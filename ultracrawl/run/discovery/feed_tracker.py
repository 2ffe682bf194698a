"""The feeds of a source: recognises them, queues their entries, and expires documents that they no longer list."""

from __future__ import annotations

import logging
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.content import feeds
from ultracrawl.content.mime import declared_type
from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason
from ultracrawl.rules.recrawl.feed_links import renewed
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.transport.headers import header_of

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

_EXPIRED_REMOVAL = Removal(RemovalReason.FEED, Cause(CauseCode.FEED_OVER))


class FeedTracker(Feature):
    """Queues the entries of feeds and stores the list of each feed (FAST 5.29).

    Feeds in the definition are start URLs. With `feeds.discover` every response that is a feed is read as one.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.section = context.source.feeds
        form = context.rules.url_policy
        urls = (form.canonical(url) for url in self.section.urls)
        self._feeds = frozenset(url_key(url) for url in urls if url is not None)
        self._seeds = frozenset(map(url_key, context.rules.seeds))
        self._only_in_feeds: set[int] = set()
        self._answered: set[int] = set()

    def queue_opened(self) -> None:
        """Load the lists of earlier runs, and delete entries that expired then and have left the index."""
        expired = []
        for _, link in self._context.store.sites.all_feed_links():
            if link.expired:
                expired.append(link.key)
            elif link.only and not self.section.follow_links:
                self._only_in_feeds.add(link.key)
        self._drop_expired(expired)

    # ---- responses

    def may_be(self, visit: Visit, content_type: str) -> bool:
        """Return whether a response of this declared type may be a feed."""
        declared = declared_type(content_type)
        named = visit.entry.key in self._feeds
        return named or (
            self.section.discover and (declared in feeds.FEED_TYPES or declared in feeds.XML_TYPES)
        )

    def is_feed(self, visit: Visit, response: Response) -> bool:
        """Return whether a response is read as a feed."""
        if visit.entry.key in self._feeds:
            return True
        return self.section.discover and feeds.is_feed(header_of(response, "Content-Type"), response.body)

    def follows_links(self, visit: Visit) -> bool:
        """Return whether the links of a page are followed.

        With `feeds.follow_links` off, those of pages that only feeds list are not.
        """
        return visit.entry.key not in self._only_in_feeds

    def read_feed(self, visit: Visit, feed: feeds.Feed) -> int:
        """Queue the entries of a feed and store its list; returns how many are inside the boundary and not expired."""
        state, now, key = self._context.store, self._context.clock(), visit.entry.key
        known = state.sites.feed_links(key)
        expired = {link.key for link in known if link.expired}
        wanted, named = self._select_entries(feed, expired)
        accepted = self._context.queue.queue_feed_links(
            visit,
            [entry.url for entry in wanted],
            ignore_rules=self.section.ignore_rules,
            may_wait=self.section.follow_links,  # else it counts which pages nothing else had led to
        )
        named.update((accepted[entry.url][0], entry.date) for entry in wanted if entry.url in accepted)
        fresh = [entry_key for entry_key, is_new in accepted.values() if is_new]
        # Expired entries are remembered while the feed lists them, and until their URL is dropped.
        remembered = expired & (named.keys() | state.records.known_urls(list(expired)).keys())
        known = [link for link in known if not link.expired or link.key in remembered]
        links = self.section.rule.expire(renewed(known, named, fresh, now), now)
        state.sites.put_feed_links(key, links)
        live = {link.key for link in links if not link.expired}
        if not self.section.follow_links:
            self._only_in_feeds.update(link.key for link in links if link.only)
        visit.note_links(array("q", (entry_key for entry_key in named if entry_key in live)).tobytes())
        return len(live.intersection(named))

    def _select_entries(
        self, feed: feeds.Feed, expired: set[int]
    ) -> tuple[list[feeds.FeedEntry], dict[int, float]]:
        """Return the entries to request, at most `max_links`, and the dates by key of expired ones."""
        wanted: list[feeds.FeedEntry] = []
        named: dict[int, float] = {}
        for entry in feed.entries:
            url = self._context.rules.url_policy.canonical(entry.url)
            if url is not None and url_key(url) in expired:
                named[url_key(url)] = entry.date
            elif url is not None:
                wanted.append(entry)
        rule = self.section.rule
        if rule.expires and rule.max_links is not None:
            if all(entry.date for entry in wanted):
                wanted.sort(key=lambda entry: -entry.date)
            del wanted[rule.max_links :]
        return wanted, named

    def visit_ended(self, visit: Visit) -> None:
        """Note a feed whose list is known in this run."""
        if visit.outcome is not None and not visit.outcome.transient:
            self._answered.add(visit.entry.key)

    # ---- the end of a run

    def run_ending(self, *, complete: bool) -> None:
        """Mark expired documents of a run that had no end of a cycle."""
        if not self._context.run.replay:
            self.cycle_ended()

    def cycle_ended(self) -> int:
        """Mark expired documents that nothing else leads to as leaving; returns how many.

        The lists of feeds that were not answered in this run are not changed.
        """
        if not self.section.delete_expired:
            return 0
        store, now, number = self._context.store, self._context.clock(), 0
        for feed in store.sites.feed_keys() & self._answered:
            links = self.section.rule.expire(store.sites.feed_links(feed), now)
            store.sites.put_feed_links(feed, links)
        store.flush()
        for key in self._unreached():
            record = store.records.get_record(key)
            if record is not None and record.searchable and not record.removal:
                store.records.amend_record(key, replace(record, removal=_EXPIRED_REMOVAL))
                for on_leaving in self._context.hooks[Feature.document_leaving]:
                    on_leaving(record)
                number += 1
        if number:
            logger.info("%d documents will be deleted: their feed entries have expired", number)
        return number

    def _unreached(self) -> set[int]:
        """Return the keys that have expired in every feed that lists them and that no page links to."""
        state = self._context.store
        expired: set[int] = set()
        lists: dict[int, set[int]] = {}
        for feed, link in state.sites.all_feed_links():
            lists.setdefault(feed, set()).add(link.key)
            if link.expired:
                expired.add(link.key)
        live = {link.key for _, link in state.sites.all_feed_links() if not link.expired}
        left = expired - live - self._seeds - self._feeds
        if left:
            for page, links in state.links.page_links():
                left.difference_update(key for key in array("q", links) if key not in lists.get(page, ()))
        return left

    def _drop_expired(self, expired: list[int]) -> None:
        """Drop expired URLs without a document in the index, so that no run requests them again."""
        state = self._context.store
        unreached = self._unreached() if expired else set()
        gone = []
        for key in unreached:
            record = state.records.get_record(key)
            if record is not None and not (record.searchable or record.removal):
                gone.append(key)
        if gone:
            state.drop_urls(gone)
            self._context.queue.forget_urls(gone)
